import { z } from "zod";
import { observationOf, readAnswer } from "./http.ts";
import { type OpenExchange, RealEnvironmentError } from "./real-environment.ts";
import { fill } from "./template.ts";
import { openWebSocket } from "./websocket.ts";

const Reply = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("observation"),
    data: z.object({
      observation: z.unknown(),
      reward: z.union([z.number(), z.boolean().transform(Number)]).nullish(),
      done: z.boolean().default(false),
    }),
  }),
  z.object({ type: z.literal("error"), data: z.object({ code: z.string().optional().catch(undefined) }) }),
]);

/** The protocol's codes of a server that has no episode to give, now or at all. */
const closed = ["CAPACITY_REACHED", "FACTORY_ERROR", "SESSION_ERROR"];

/** OpenEnv: one WebSocket is one episode. */
export const openOpenEnv: OpenExchange = async (settings, task, signal) => {
  const { apiKey } = settings;
  const reset = fill(settings.reset, task);
  const headers: Record<string, string> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  const socket = await openWebSocket(`${settings.url}/ws`, headers, signal);

  async function say(type: "reset" | "step", data: unknown, signal: AbortSignal) {
    const reply = readAnswer(await socket.ask(JSON.stringify({ type, data }), signal), Reply);
    if (reply.type === "error") throw refusal(reply.data.code);
    const { observation, reward, done } = reply.data;
    return { observation: observationOf(observation, settings), reward: reward ?? null, done };
  }

  const { observation: first } = await say("reset", reset, signal).catch((error: unknown) => {
    socket.abort();
    throw error;
  });
  return {
    first,
    step: (action, signal) => say("step", fill(settings.action, task, action), signal),
    close: (signal) => socket.close(JSON.stringify({ type: "close" }), signal),
  };
};

function refusal(code: string | undefined): RealEnvironmentError {
  if (code !== undefined && closed.includes(code))
    return new RealEnvironmentError("unavailable", `The real environment has no episode to give (${code}).`);
  return new RealEnvironmentError("refused", "The real environment refused the message.");
}
