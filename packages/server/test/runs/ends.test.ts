import { expect, test } from "bun:test";
import { RunReport } from "@presage/contract";
import { testKey } from "../support/presage/presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { datasetClient } from "../support/resources/datasets.ts";
import { runClient } from "../support/resources/runs.ts";
import { onAnyDatabase } from "../support/store/databases.ts";

interface Recorded {
  reward?: number;
  done?: boolean;
}

/** Eight trajectories of three steps; each ends with its last step, the only one with `done`. */
const trajectories = ["a", "b", "c", "d", "e", "f", "g", "h"];
const key = { "X-API-KEY": testKey };
const recordedOf = (step: number): Recorded => (step === 2 ? { done: true, reward: 1 } : { reward: 0 });

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  const datasets = datasetClient(presage);
  const { create, end } = runClient(presage);

  /** A run with these answers to the recorded steps, and its report. */
  async function report(
    ends: object | undefined,
    answer: (trajectory: string, step: number) => string | null,
    recorded: (step: number) => Recorded = recordedOf,
  ): Promise<RunReport> {
    const dataset_id = await datasets.create();
    const steps = trajectories.flatMap((trajectory_id) => [0, 1, 2].map((step) => ({ trajectory_id, step })));
    const samples = steps.map(({ trajectory_id, step }) => ({
      ...{ trajectory_id, step, ...recorded(step) },
      interaction: { state: "In a room.", action: step === 2 ? "stop" : "go on" },
      next_state: step === 2 ? "You win." : "Nothing.",
    }));
    await datasets.uploadNew(dataset_id, samples);
    const run = await create({ dataset_id, target: { predictions: "imported" }, ends });
    const lines = steps.map(({ trajectory_id, step }) =>
      JSON.stringify({ trajectory_id, step, prediction: answer(trajectory_id, step) }),
    );
    const uploaded = await presage.call("POST", `/v1/runs/${run.id}/predictions`, lines.join("\n"), {
      ...key,
      "content-type": "application/jsonl",
    });
    expect(uploaded.status).toBe(200);
    await end(run.id);
    return RunReport.parse(await (await presage.call("GET", `/v1/runs/${run.id}/report`)).json());
  }

  const stop = [
    { output_contains: "win", outcome: "success" },
    { action_matches: "^give up", outcome: "failure" },
  ];

  test("Rules say where predictions end, and what they pay", async () => {
    // The predictions miss one of the eight ends, and add one that is not recorded.
    const { ends, run } = await report({ stop }, (trajectory, step) => {
      if (trajectory === "a" && step === 0) return null;
      if (trajectory === "b") return step === 1 ? "You win." : "Nothing.";
      return step === 2 ? "You win." : "Nothing.";
    });
    expect(run.provenance.ends).toEqual({ stop } as never);
    expect(ends).toMatchObject({
      sentence: expect.stringMatching(
        /^Ends where the real one ends: 91\.3 % \(95 % interval [\d.]+ to [\d.]+ %\) of 23 predictions in 8 trajectories\. It misses the end in 1 of 8 predictions at real ends; of the 8 ends that it predicts, 1 is false\. Rewards are off by 0\.09 \(95 % interval \S+ to \S+\) on average over 23 predictions in 8 trajectories; /,
      ),
      note: null,
      done: {
        counts: { both: 7, only_predicted: 1, only_recorded: 1, neither: 14 },
        agreement: { value: 21 / 23, count: 23, trajectories: 8, note: null },
        false_ends: { value: 1 / 8, count: 8 },
        missed_ends: { value: 1 / 8, count: 8 },
        without: 1,
        step: [
          { key: 0, counts: { both: 0, only_predicted: 0, only_recorded: 0, neither: 7 } },
          { key: 1, agreement: { value: 7 / 8 } },
          { key: 2, counts: { both: 7, only_predicted: 0, only_recorded: 1, neither: 0 } },
        ],
      },
      reward: {
        absolute_error: { value: 2 / 23, count: 23, trajectories: 8, note: null },
        spearman: { value: expect.closeTo(0.8083333, 6), count: 23 },
        without: 1,
      },
    });
    const page = await presage.call("GET", `/v1/runs/${run.id}/report?format=md`);
    const [, , ...lines] = (await page.text()).split("\n\n");
    expect(lines[0]).toStartWith("Ends where the real one ends: 91.3 %");
    expect(lines.join("\n")).toContain("| Predicted to end | 7 | 1 |\n| Predicted to go on | 1 | 14 |");
    const { agreement } = ends?.done ?? {};
    expect(agreement?.interval?.lower).toBeLessThan(21 / 23);
  });

  test("Fields of an answer say it", async () => {
    const fields = { done_field: "$.end", reward_field: "$['the score'][0]" };
    const { ends } = await report(fields, (trajectory, step) => {
      if (trajectory === "a") return "no JSON";
      if (trajectory === "b") return JSON.stringify({ end: "true", "the score": [] });
      return JSON.stringify({ end: step === 2, "the score": [step / 2] });
    });
    expect(ends?.done).toMatchObject({
      counts: { both: 6, only_predicted: 0, only_recorded: 0, neither: 12 },
      agreement: { value: 1, trajectories: 6, interval: { upper: 1 } },
      without: 6,
    });
    expect(ends?.reward).toMatchObject({ absolute_error: { value: 0.5 / 3 }, without: 6 });
  });

  test("By step, large errors have intervals, and few trajectories none", async () => {
    const fields = { reward_field: "$.score" };
    const { ends } = await report(fields, (trajectory, step) =>
      JSON.stringify({ score: step === 1 && trajectory > "e" ? null : step * trajectory.charCodeAt(0) }),
    );
    const [first, second, last] = ends?.reward?.step ?? [];
    expect(first?.absolute_error).toMatchObject({ value: 0, note: expect.stringContaining("alike") });
    expect(second?.absolute_error).toMatchObject({
      interval: null,
      note: expect.stringMatching(/^Too few traj/),
    });
    expect(last?.absolute_error.interval?.upper).toBeGreaterThan(100);
    expect(last?.spearman.note).toBe("All rewards are the same on one side.");
  });

  test("An environment's rules are those of when the run was made", async () => {
    const environment = { name: "kitchen", stop, max_steps: 5 };
    expect((await presage.call("POST", "/v1/environments", environment)).status).toBe(201);
    const { ends, run } = await report({ environment: "kitchen" }, (_, step) =>
      step === 2 ? "You win." : "Nothing.",
    );
    expect(run.provenance.ends).toEqual({ environment: "kitchen@1", stop } as never);
    expect(ends?.done?.agreement).toMatchObject({ value: 1, count: 24 });
    expect(ends?.reward?.spearman).toMatchObject({
      value: 1,
      interval: null,
      note: "All trajectories differ alike, which does not show how far others would.",
    });
  });

  test("What nothing is known of is null, with the reason", async () => {
    const none = { sentence: null, done: null, reward: null };
    expect((await report(undefined, () => "Nothing.")).ends).toEqual({
      ...none,
      note: "The run was made without `ends`.",
    });
    expect(
      (
        await report(
          { stop },
          () => "Nothing.",
          () => ({}),
        )
      ).ends,
    ).toEqual({
      ...none,
      note: "No sample says whether the episode ended. No sample has a reward.",
    });
    expect((await report({ done_field: "$.done" }, () => "Nothing.")).ends).toMatchObject({
      sentence: "No prediction says whether the episode ends.",
      done: { agreement: { value: null, interval: null, count: 0 }, without: 24, step: [] },
      reward: null,
      note: "Nothing says what the reward is: no field, and no rule that leads to success.",
    });
  });

  test("Rules that cannot be tried on samples are refused", async () => {
    const goal = { output_contains: "{goal}", outcome: "success" };
    const wrong = { output_matches: "(", outcome: "success" };
    const dataset_id = await datasets.create();
    await datasets.uploadNew(dataset_id, [
      { trajectory_id: "a", step: 0, interaction: { state: "s", action: "a" }, next_state: "n" },
    ]);
    for (const [ends, ...path] of [
      [{ stop: [goal] }, "ends", "stop", 0],
      [{ stop: [wrong] }, "ends", "stop", 0, "output_matches"],
      [{ environment: "sandbox" }, "ends", "environment"],
      [{ environment: "nowhere" }, "ends", "environment"],
    ] as const) {
      const body = {
        dataset_id,
        target: { baseline: "no-change" },
        evaluators: [{ evaluator: "exact-match" }],
        ends,
      };
      const response = await presage.call("POST", "/v1/runs", body);
      expect(response.status).toBe(422);
      expect(await response.json()).toMatchObject({ detail: [{ loc: ["body", ...path] }] });
    }
  });
});
