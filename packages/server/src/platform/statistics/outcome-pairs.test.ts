import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { mersenne } from "pure-rand/generator/mersenne";
import { z } from "zod";
import { slowTest } from "../../../test/support/whole-run.ts";
import { leaveOneOutError, tQuantile, wilsonBounds } from "./intervals.ts";
import {
  consistencyOf,
  kendallTau,
  macroConsistencyOf,
  type OutcomePair,
  pairFigures,
  rewardFigures,
} from "./outcome-pairs.ts";

function seeded(seed: number): () => number {
  const random = mersenne(seed);
  return () => (random.next() >>> 0) / 2 ** 32;
}

/** Simulated successes in tasks of varying difficulty, of which this share fails in reality. */
function simulate(seed: number, tasks: number, falseShare: number): OutcomePair[] {
  const random = seeded(seed);
  return Array.from({ length: tasks }, (_, task) => {
    const ofTask = falseShare * 2 * random();
    return Array.from({ length: 3 }, () => ({
      ...{ task: `t${task}`, policy: null, simulated: true },
      real: random() >= ofTask,
    }));
  }).flat();
}

slowTest(
  "the interval of false successes covers the truth in 93 % of 500 reality checks and more",
  async () => {
    let covered = 0;
    for (let seed = 1; seed <= 500; seed += 1) {
      const { false_success_rate: found } = await pairFigures(simulate(seed, 30, 0.2));
      if (found.interval && found.interval.lower <= 0.2 && found.interval.upper >= 0.2) covered += 1;
    }
    expect(covered).toBeGreaterThanOrEqual(465);
  },
);

test("over policies, each counts alike however many episodes it has, and tasks are left out in turn", () => {
  const random = seeded(3);
  const pairs = Array.from({ length: 300 }, (_, at) => ({
    ...{ task: `t${at % 12}`, policy: at % 5 === 0 ? "rare" : "usual", simulated: true },
    ...{ real: random() < 0.5, replayed: random() < (at % 5 === 0 ? 0.9 : 0.3) },
  }));
  const meanOf = (some: readonly OutcomePair[], side: "replayed" | "real") => {
    const shares = [...Map.groupBy(some, ({ policy }) => policy).values()].map(
      (its) => its.filter((one) => one[side]).length / its.length,
    );
    return shares.reduce((sum, share) => sum + share, 0) / shares.length;
  };
  const found = macroConsistencyOf(pairs);
  const [replayed, real] = [meanOf(pairs, "replayed"), meanOf(pairs, "real")];
  expect(found?.replayed.value).toBeCloseTo(replayed, 12);
  expect(found?.ratio.value).toBeCloseTo(replayed / real, 12);
  const without = Float64Array.from({ length: 12 }, (_, task) =>
    meanOf(
      pairs.filter((pair) => pair.task !== `t${task}`),
      "replayed",
    ),
  );
  // Within 0 and 1, as that of a mean score.
  const trials = (replayed * (1 - replayed)) / leaveOneOutError(without) ** 2;
  const { lower, upper } = wilsonBounds(replayed, trials, tQuantile(0.975, 11));
  expect(found?.replayed.interval?.lower).toBeCloseTo(lower, 9);
  expect(found?.replayed.interval?.upper).toBeCloseTo(upper, 9);
  expect(macroConsistencyOf(pairs.filter(({ policy }) => policy === "rare"))).toBeUndefined();
});

test("the consistency ratio divides replays by acting in reality", () => {
  const pairs = simulate(7, 12, 0.3).map((pair, at) => ({
    ...pair,
    real: at % 2 === 0,
    replayed: at % 4 === 0,
  }));
  const found = consistencyOf(pairs);
  expect([found?.replayed.value, found?.real.value, found?.ratio.value]).toEqual([0.25, 0.5, 0.5]);
  expect(found?.ratio.interval?.lower).toBeLessThan(0.5);
  expect(consistencyOf(simulate(7, 12, 0.3))).toBeUndefined();
  const none = consistencyOf(pairs.map((pair) => ({ ...pair, replayed: false })));
  expect(none?.ratio).toMatchObject({
    value: 0,
    interval: null,
    note: expect.stringContaining("The ratio is 0"),
  });
  // The upper end is too large for a number, unlike its logarithm.
  const ofTask = (task: number, count: number) =>
    Array.from({ length: count }, (_, at) => ({
      ...{
        task: `${task}`,
        policy: null,
        simulated: true,
        real: at === 0 || at % 9 === 0,
        replayed: at % 2 === 0,
      },
    }));
  const large = [ofTask(0, 1_000), ...[1, 2, 3, 4, 5, 6].map((task) => ofTask(task, 1))].flat();
  expect(consistencyOf(large)?.ratio).toMatchObject({
    ...{ interval: null, note: "One task has most of the episodes.", tasks: 7 },
  });
});

/** Made by `rank-correlation.fixture.py`, which describes them. */
const figure = z.tuple([z.number().nullable(), z.tuple([z.number(), z.number()]).nullable()]);
const Line = z.strictObject({
  pairs: z.array(z.tuple([z.number(), z.number()])),
  tasks: z.array(z.number()),
  distance: figure,
  correlation: figure,
});
const lines = readFileSync(new URL("./rank-correlation.fixture.jsonl", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => Line.parse(JSON.parse(line)));

test("Spearman's ρ is scipy's, and both intervals leave out each task", async () => {
  for (const { pairs, tasks, distance, correlation } of lines) {
    const { absolute_error, spearman } = await rewardFigures(
      pairs.map(([simulated, real], index) => ({ task: `t${tasks[index]}`, simulated, real })),
    );
    for (const [found, [value, interval]] of [
      [absolute_error, distance],
      [spearman, correlation],
    ] as const) {
      expect(found.value).toEqual(value && expect.closeTo(value, 9));
      expect(found.interval).toEqual(
        interval && {
          level: 0.95,
          lower: expect.closeTo(interval[0], 9),
          upper: expect.closeTo(interval[1], 9),
        },
      );
      expect(found.note === null).toBe(interval !== null);
    }
  }
});

test("without rewards in both there is no figure", async () => {
  const { absolute_error, spearman } = await rewardFigures([]);
  const none = { value: null, interval: null, count: 0, tasks: 0, note: "No episode has a reward in both." };
  expect([absolute_error, spearman]).toMatchObject([none, none]);
});

test("Kendall's τ-b takes ties into account, as scipy's kendalltau does", () => {
  expect(
    kendallTau([
      [1, 1],
      [2, 2],
      [3, 3],
    ]),
  ).toBe(1);
  expect(
    kendallTau([
      [12, 1],
      [2, 4],
      [1, 7],
      [12, 1],
      [2, 0],
    ]),
  ).toBeCloseTo(-0.47140452079103173, 12);
  expect(
    kendallTau([
      [1, 2],
      [1, 3],
    ]),
  ).toBeNaN();
});

test("tasks that are all alike are said to be, where that leaves no interval", async () => {
  const pairs = [0, 1, 2, 3, 4, 5, 6, 7].flatMap((task) =>
    [true, false].map((real) => ({ task: `${task}`, policy: null, simulated: real, real })),
  );
  const note = "All tasks are alike, which does not show how far others would differ.";
  expect(await pairFigures(pairs)).toMatchObject({
    phi: { value: 1, interval: null, note },
    cohen_kappa: { value: 1, interval: null, note },
  });
});
