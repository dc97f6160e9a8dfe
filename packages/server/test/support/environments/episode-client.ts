import { expect } from "bun:test";
import { Episode, EpisodeStart, StepResponse } from "@presage/contract";
import { type TestPresage, testKey } from "../presage/presage.ts";

let environments = 0;

/** Makes environments and plays episodes in them. */
export function episodeClient(presage: Pick<TestPresage, "call">) {
  const send = (id: string, action: string, key?: string) =>
    presage.call(
      "POST",
      `/v1/episodes/${id}/step`,
      { action },
      { "x-api-key": testKey, ...(key === undefined ? {} : { "idempotency-key": key }) },
    );

  return {
    send,

    /** An environment with one task. */
    async environment(config: object = {}, task: object = {}): Promise<string> {
      environments += 1;
      const name = `of-episodes-${environments}`;
      const created = await presage.call("POST", "/v1/environments", { name, ...config });
      expect(created.status).toBe(201);
      const added = await presage.call("POST", `/v1/environments/${name}/tasks`, {
        initial_state: "start",
        ...task,
      });
      expect(added.status).toBe(201);
      return name;
    },

    async start(name: string, more: object = {}): Promise<string> {
      const response = await presage.call("POST", "/v1/episodes", { environment: name, ...more });
      expect(response.status).toBe(201);
      return EpisodeStart.parse(await response.json()).episode_id;
    },

    async step(id: string, action: string, key?: string): Promise<StepResponse> {
      const response = await send(id, action, key);
      expect(response.status).toBe(200);
      return StepResponse.parse(await response.json());
    },

    async read(id: string): Promise<Episode> {
      return Episode.parse(await (await presage.call("GET", `/v1/episodes/${id}`)).json());
    },
  };
}
