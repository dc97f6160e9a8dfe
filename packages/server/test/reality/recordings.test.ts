import { expect, test } from "bun:test";
import {
  Dataset,
  EpisodeReality,
  RealityCheck,
  RealityCheckDetail,
  RealityEpisodeListResponse,
} from "@presage/contract";
import { eventually } from "../support/eventually.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { checkRecordings, firstState } from "../support/reality/check-recordings.ts";
import { onAnyDatabase } from "../support/store/databases.ts";

onAnyDatabase((database) => {
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

  test("a recording with more steps than an episode has fails, and no step of it is played", async () => {
    await call("POST", "/v1/environments", {
      name: "long",
      stop: [{ output_contains: "you won", outcome: "success" }],
    });
    const { id: dataset } = Dataset.parse(await call("POST", "/v1/datasets", { name: "long" }));
    const lines = Array.from({ length: 1_001 }, (_, step) => ({
      ...{
        trajectory_id: "t",
        step,
        interaction: { state: firstState, action: "look" },
        next_state: "A room.",
        reward: 0,
      },
    }));
    await call(
      "POST",
      `/v1/datasets/${dataset}/revisions`,
      lines.map((line) => JSON.stringify(line)).join("\n"),
    );
    const { id } = RealityCheck.parse(
      await call("POST", "/v1/reality-checks", { environment: "long", dataset_id: dataset }),
    );
    const check = async () => RealityCheck.parse(await call("GET", `/v1/reality-checks/${id}`));
    expect(await eventually(check, ({ status }) => status !== "running")).toMatchObject({
      episodes: 0,
      failed: 1,
    });
    const shown = await call("GET", `/v1/reality-checks/${id}/episodes?show=failed`);
    expect(RealityEpisodeListResponse.parse(shown).data[0]?.error).toBe(
      "It cannot be replayed: The trajectory has more than 1000 steps.",
    );
  });

  test("where no rule says how a recording ended, its last reward does", async () => {
    const stop = [
      { output_contains: "you won", outcome: "success" },
      { output_contains: "you lost", outcome: "failure" },
    ];
    await call("POST", "/v1/environments", { name: "paid", stop });
    const { id: dataset } = Dataset.parse(await call("POST", "/v1/datasets", { name: "paid" }));
    const lines = ["A lit room.", "A lit room, you lost."].map((next_state, index) => ({
      ...{ trajectory_id: `t${index}`, step: 0, interaction: { state: firstState, action: "look" } },
      // The sum of ten times 0.1.
      ...{ next_state, reward: 0.9999999999999999 },
    }));
    const text = lines.map((line) => JSON.stringify(line)).join("\n");
    await call("POST", `/v1/datasets/${dataset}/revisions`, text);
    async function counted(body: object): Promise<unknown> {
      const { id } = RealityCheck.parse(await call("POST", "/v1/reality-checks", body));
      const { figures } = await eventually(
        async () => RealityCheckDetail.parse(await call("GET", `/v1/reality-checks/${id}`)),
        ({ status }) => status !== "running",
      );
      return figures.counts;
    }
    expect(await counted({ environment: "paid", dataset_id: dataset })).toEqual({
      both: 0,
      only_simulated: 0,
      only_real: 1,
      neither: 1,
    });

    // A reward that is not enough in the recording is not enough in the simulation either, which pays 1.
    const reward = { evaluator: "regex", when: "every-step" };
    await call("POST", "/v1/environments", { name: "rewarded", reward });
    expect(await counted({ environment: "rewarded", dataset_id: dataset, success_reward: 2 })).toEqual({
      ...{ both: 0, only_simulated: 0, only_real: 0, neither: 2 },
    });
    expect(await counted({ environment: "rewarded", dataset_id: dataset })).toMatchObject({ both: 2 });
  });
});
