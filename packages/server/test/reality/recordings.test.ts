import { expect, test } from "bun:test";
import { EpisodeReality, RealityEpisodeListResponse } from "@presage/contract";
import { usePresage } from "../support/presage/use-presage.ts";
import { checkRecordings, firstState } from "../support/reality/check-recordings.ts";
import { onEachDatabase } from "../support/store/databases.ts";

onEachDatabase((database) => {
  const presage = usePresage({ database });

  async function call(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await presage.call(method, path, body);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  }

  test("an environment plays recorded actions, and what was recorded is the reality", async () => {
    const check = await checkRecordings(call, "rooms");
    expect(check).toMatchObject({ source: "recordings", real: null, episodes: 10, waiting: 0, failed: 0 });
    expect(check.figures.agreement.tasks).toBe(4);
    expect(check.figures.counts).toEqual({ both: 7, only_simulated: 3, only_real: 0, neither: 0 });

    const shown = await call("GET", `/v1/reality-checks/${check.id}/episodes?show=false-successes`);
    const { data } = RealityEpisodeListResponse.parse(shown);
    expect(data.map(({ diverged_at, steps }) => [diverged_at, steps])).toEqual([
      [2, 2],
      [2, 2],
      [2, 2],
    ]);
    const beside = await call("GET", `/v1/episodes/${data[0]?.episode_id}/reality`);
    expect(EpisodeReality.parse(beside)).toMatchObject({
      real: false,
      first_observation: firstState,
      real_steps: [{ action: "activate lantern" }, { action: "open chest", observation: "It is locked." }],
    });
  });
});
