import { z } from "zod";
import { ask, observationOf, readAnswer } from "./http-client.ts";
import type { OpenExchange } from "./real-environment.ts";
import { fill } from "./template.ts";

const Started = z.object({ episode_id: z.string().regex(/^[\w-]{1,200}$/), observation: z.unknown() });
const Stepped = z.object({
  observation: z.unknown(),
  reward: z.number().nullish(),
  terminated: z.boolean(),
  truncated: z.boolean(),
});

/** Presage's own episodes, on another server. */
export const openHttp: OpenExchange = async (settings, task, signal) => {
  const headers: Record<string, string> =
    settings.apiKey === undefined ? {} : { authorization: `Bearer ${settings.apiKey}` };
  const path = "/v1/episodes";
  const body = { environment: settings.environment, ...(fill(settings.reset, task) as object) };
  const started = readAnswer(await ask(settings, { method: "POST", path, headers, body }, signal), Started);
  const ofEpisode = `${path}/${started.episode_id}`;
  return {
    first: observationOf(started.observation, settings),
    async step(action, signal) {
      const body = fill(settings.action, task, action);
      const answer = await ask(
        settings,
        { method: "POST", path: `${ofEpisode}/step`, headers, body },
        signal,
      );
      const { observation, reward = null, terminated, truncated } = readAnswer(answer, Stepped);
      return { observation: observationOf(observation, settings), reward, done: terminated || truncated };
    },
    async close(signal) {
      await ask(settings, { method: "DELETE", path: ofEpisode, headers }, signal);
    },
  };
};
