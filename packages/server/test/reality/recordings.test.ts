import { expect, test } from "bun:test";
import { EpisodeReality, RealityCheckDetail, RealityEpisodeListResponse } from "@presage/contract";
import { eventually } from "../support/eventually.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { onEachDatabase } from "../support/store/databases.ts";

const start =
  "This room is called the workshop. In it, you see: a lantern, which is deactivated. a chest. The chest door is closed.";
const map = "[workshop]\nThis room is called the workshop.";

/** Of each trajectory: the lantern is turned on, then the chest is opened, which is locked in reality in every third one. */
const lines = Array.from({ length: 9 }, (_, index) => {
  const at = {
    trajectory_id: `t${index}`,
    context: { environment_state: map, task_context: "Open the chest." },
  };
  const lit = "The lantern is now activated.";
  const opened = index % 3 === 0 ? "It is locked." : "The chest is now open.";
  return [
    { ...at, step: 0, interaction: { state: start, action: "activate lantern" }, next_state: lit },
    {
      ...at,
      step: 1,
      interaction: { state: lit, action: "open chest" },
      next_state: opened,
      reward: index % 3 ? 1 : 0,
    },
  ];
}).flat();

onEachDatabase((database) => {
  const presage = usePresage({ database });

  async function call(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await presage.call(method, path, body);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  }

  test("an environment plays recorded actions, and what was recorded is the reality", async () => {
    const stop = [{ output_contains: "chest is now open", outcome: "success" }];
    await call("POST", "/v1/environments", { name: "rooms", prompt_form: "chat", stop });
    const { id: dataset } = (await call("POST", "/v1/datasets", { name: "recorded" })) as { id: string };
    await call(
      "POST",
      `/v1/datasets/${dataset}/revisions`,
      lines.map((line) => JSON.stringify(line)).join("\n"),
    );
    const made = await call("POST", "/v1/reality-checks", { environment: "rooms", dataset_id: dataset });
    const { id } = RealityCheckDetail.omit({ figures: true }).parse(made);
    const check = await eventually(
      async () => RealityCheckDetail.parse(await call("GET", `/v1/reality-checks/${id}`)),
      ({ status }) => status !== "running",
    );
    expect(check).toMatchObject({ source: "recordings", real: null, episodes: 9, waiting: 0, failed: 0 });
    expect(check.figures.counts).toEqual({ both: 6, only_simulated: 3, only_real: 0, neither: 0 });

    const shown = await call("GET", `/v1/reality-checks/${id}/episodes?show=false-successes`);
    const { data } = RealityEpisodeListResponse.parse(shown);
    expect(data.map(({ diverged_at, steps }) => [diverged_at, steps])).toEqual([
      [2, 2],
      [2, 2],
      [2, 2],
    ]);
    const beside = await call("GET", `/v1/episodes/${data[0]?.episode_id}/reality`);
    expect(EpisodeReality.parse(beside)).toMatchObject({
      real: false,
      first_observation: start,
      real_steps: [{ action: "activate lantern" }, { action: "open chest", observation: "It is locked." }],
    });
  });
});
