import { expect, test } from "bun:test";
import { RunSampleListResponse } from "@presage/contract";
import { testKey } from "../support/presage/presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { datasetClient, toLines } from "../support/resources/datasets.ts";
import { runClient } from "../support/resources/runs.ts";
import { onEachDatabase } from "../support/store/databases.ts";

/** Two trajectories that are recorded alternately, the second in reverse. */
const samples = [0, 1, 2].flatMap((step) =>
  [
    { trajectory_id: "a", step },
    { trajectory_id: "b", step: 2 - step },
  ].map((place) => ({
    ...place,
    interaction: { state: `It is ${place.step} past.`, action: "wait" },
    next_state: `It is ${place.step + 1} past, they say.`,
  })),
);

/** Both repeats of a/0 are right, one of a/1, and the rest are partly right; b/2 failed. */
const predictions = samples.flatMap(({ trajectory_id, step, next_state }) =>
  [0, 1].map((repeat) => ({
    trajectory_id,
    step,
    repeat,
    prediction:
      trajectory_id === "b" && step === 2
        ? null
        : trajectory_id === "a" && step <= 1 - repeat
          ? next_state
          : `It is ${step + repeat}.`,
  })),
);

onEachDatabase((database) => {
  const presage = usePresage({ database });
  const datasets = datasetClient(presage);
  const { create, end, samples: list } = runClient(presage);
  let running: Promise<string> | undefined;

  async function importRun(): Promise<string> {
    const dataset_id = await datasets.create();
    await datasets.uploadNew(dataset_id, samples);
    const { id } = await create({
      dataset_id,
      target: { predictions: "imported" },
      repeats: 2,
      evaluators: [{ evaluator: "exact-match" }, { evaluator: "rouge-l" }],
    });
    await presage.call("POST", `/v1/runs/${id}/predictions`, toLines(predictions), { "x-api-key": testKey });
    await end(id);
    return id;
  }

  async function read(query: string) {
    running ??= importRun();
    return await presage.call("GET", `/v1/runs/${await running}/samples?${query}`);
  }

  /** The places of all predictions, in pages of five. */
  async function order(query: string): Promise<string[]> {
    running ??= importRun();
    const found = await list(await running, `&limit=5&${query}`);
    return found.map(({ trajectory_id, step, repeat }) => `${trajectory_id}${step}.${repeat}`);
  }

  test("predictions are sorted by an evaluator's score over all pages, equal ones by place", async () => {
    running ??= importRun();
    const all = await list(await running);
    const scoreOf = (index: number) => all[index]?.verdicts[1]?.score ?? -1;
    const indexes = [...all.keys()];
    const nameOf = (index: number) => {
      const { trajectory_id, step, repeat } = all[index] ?? { trajectory_id: "", step: -1, repeat: -1 };
      return `${trajectory_id}${step}.${repeat}`;
    };
    const best = indexes.toSorted((one, other) => scoreOf(other) - scoreOf(one) || one - other).map(nameOf);
    const worst = indexes.toSorted((one, other) => scoreOf(one) - scoreOf(other) || one - other).map(nameOf);
    expect(await order("order=-score&order_evaluator=rouge-l")).toEqual(best);
    expect(await order("order=score&evaluator=rouge-l")).toEqual(
      worst.filter((name) => !name.startsWith("b2")),
    );
    expect(await order("order=score&order_evaluator=rouge-l")).toEqual(worst);
    expect(worst.slice(0, 2)).toEqual(["b2.0", "b2.1"]);
    expect(new Set(all.map((_, index) => scoreOf(index))).size).toBeGreaterThan(2);
  });

  test("the sort and a filter are of different evaluators", async () => {
    const found = await order("order=-score&order_evaluator=rouge-l&evaluator=exact-match&pass=true");
    expect(found).toEqual(["a0.0", "a0.1", "a1.0"]);
  });

  test("a trajectory is read by step, with all repeats", async () => {
    const steps = ["b0.0", "b0.1", "b1.0", "b1.1", "b2.0", "b2.1"];
    expect(await order("trajectory_id=b&order=step")).toEqual(steps);
    expect(await order("trajectory_id=b")).toEqual([
      ...steps.slice(4),
      ...steps.slice(2, 4),
      ...steps.slice(0, 2),
    ]);
    expect(await order("order=-step&trajectory_id=a")).toEqual([
      "a2.0",
      "a2.1",
      "a1.0",
      "a1.1",
      "a0.0",
      "a0.1",
    ]);
  });

  test("a trajectory's neighbours are those whose first steps the dataset has before and after its own", async () => {
    const around = async (id: string, trajectory: string) => {
      const path = `/v1/runs/${id}/samples?limit=1&trajectory_id=${trajectory}`;
      return RunSampleListResponse.parse(await (await presage.call("GET", path)).json()).trajectory;
    };
    running ??= importRun();
    expect(await around(await running, "a")).toEqual({ previous: null, next: "b" });
    expect(await around(await running, "b")).toEqual({ previous: "a", next: null });
    expect(await around(await running, "c")).toEqual({ previous: null, next: null });
    const all = RunSampleListResponse.parse(await (await read("limit=1")).json());
    expect(all).not.toHaveProperty("trajectory");

    const dataset_id = await datasets.create();
    const recorded = ["z/1", "z/0", "y/0", "z/2", "x/3", "y/1", "x/4"].map((place) => {
      const [trajectory_id = "", step] = place.split("/");
      return { ...samples[0], trajectory_id, step: Number(step) };
    });
    await datasets.uploadNew(dataset_id, recorded);
    const { id } = await create({
      dataset_id,
      target: { baseline: "no-change" },
      evaluators: [{ evaluator: "exact-match" }],
    });
    await end(id);
    expect(await around(id, "z")).toEqual({ previous: null, next: "y" });
    expect(await around(id, "y")).toEqual({ previous: "z", next: "x" });
    expect(await around(id, "x")).toEqual({ previous: "y", next: null });
  });

  test("one sample is read with all its repeats", async () => {
    expect(await order("dataset_sample_id=b/1")).toEqual(["b1.0", "b1.1"]);
    expect(await order("dataset_sample_id=b/1&trajectory_id=a")).toEqual([]);
    expect(await order("dataset_sample_id=%25")).toEqual([]);
  });

  test("every order has every prediction once", async () => {
    for (const by of [
      "changes",
      "-changes",
      "completion_tokens",
      "-completion_tokens",
      "latency",
      "-latency",
    ])
      expect([by, new Set(await order(`order=${by}`)).size]).toEqual([by, 12]);
  });

  test("texts are as long as was asked for: the action, what was recorded, and what was predicted", async () => {
    const samplesOf = async (query: string) =>
      RunSampleListResponse.parse(await (await read(query)).json()).data;
    const cut = await samplesOf("text_limit=5&trajectory_id=b&order=step");
    expect(cut.map(({ prediction }) => prediction.excerpt)).toEqual([
      "It is",
      "It is",
      "It is",
      "It is",
      null,
      null,
    ]);
    const [first] = await samplesOf("text_limit=12&trajectory_id=b&order=step&limit=1");
    expect(first).toMatchObject({ action: "wait", expected: "It is 1 past" });
    const [bare] = await samplesOf("limit=1");
    expect(bare).not.toHaveProperty("action");
    expect(bare).not.toHaveProperty("expected");
    expect(bare?.prediction).not.toHaveProperty("excerpt");
  });

  test("the action of a sample with messages is the last of them, in its own words", async () => {
    const dataset_id = await datasets.create();
    const messages = ["Play.", 'say "action":"none"\nö'].map((content) => ({ role: "user", content }));
    const tags = { action: "a tag", next_state: "another" };
    await datasets.uploadNew(dataset_id, [
      { trajectory_id: "m", step: 0, messages, next_state: 'He says "next_state":"7".', tags },
    ]);
    const { id } = await create({
      dataset_id,
      target: { baseline: "no-change" },
      evaluators: [{ evaluator: "exact-match" }],
    });
    await end(id);
    const [found] = await list(id, "&text_limit=1000");
    expect(found).toMatchObject({ action: messages[1]?.content, expected: 'He says "next_state":"7".' });
  });

  test("an order by score needs an evaluator of the run, and cursors of any form are harmless", async () => {
    for (const query of [
      "order=score",
      "order=-score&order_evaluator=bleu",
      "order=up",
      "text_limit=0",
      "trajectory=b",
      "after=1.0_x",
      "after=1.0_1e999999",
      "after=1.0_1.2.3",
    ])
      expect([query, (await read(query)).status]).toEqual([query, 422]);
    for (const query of [
      "order=latency&after=1.0_0.5",
      "order=latency&after=1.0",
      "order=-changes&after=1.0_1e300",
      "order=step&after=999999999999999.99_-9999999999999999",
      "after=1.0_7",
    ])
      expect([query, (await read(query)).status]).toEqual([query, 200]);
  });
});
