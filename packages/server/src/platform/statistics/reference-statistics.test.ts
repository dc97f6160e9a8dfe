import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { z } from "zod";
import {
  detectableDifference,
  holm,
  overallSigns,
  pairedDifference,
  strataSigns,
  survivesOneFailure,
} from "./differences.ts";
import {
  clusteredError,
  effectiveClusters,
  jackknifeError,
  momentsOfClusters,
  rateInterval,
  scoreInterval,
  tQuantile,
} from "./intervals.ts";
import { bootstrapSurvival, type FirstDivergence, survival } from "./survival.ts";

/** Made by `reference-statistics.fixture.py`, which describes them. */
const bounds = z.tuple([z.number(), z.number()]).nullable();
const flips = { p_value: z.number(), interval: bounds };
const figure = z.tuple([z.number(), z.number(), z.number()]);
const values = z.array(z.array(z.number()));
const ending = z.tuple([z.number(), z.literal([0, 1])]).transform(
  ([lastStep, diverged]): FirstDivergence => ({
    lastStep,
    ending: diverged === 1 ? "diverged" : "recording-ended",
  }),
);
const Line = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("t"), quantiles: z.array(figure) }),
  z.strictObject({
    kind: z.literal("figures"),
    name: z.string(),
    clusters: values,
    mean: z.number(),
    effective: z.number(),
    error: z.number(),
    moments_error: z.number(),
    score_interval: bounds,
    rate_interval: bounds,
  }),
  z.strictObject({
    kind: z.literal("paired"),
    name: z.string(),
    seed: z.number(),
    clusters: values,
    difference: z.number(),
    ...flips,
    stratum: z.strictObject(flips),
    means: z.tuple([z.number(), z.number()]),
    survives: z.boolean(),
    min_detectable: z.number().nullable(),
    trajectories_for_1_point: z.number().nullable(),
  }),
  z.strictObject({
    kind: z.literal("holm"),
    p_values: z.array(z.number()),
    p_adjusted: z.array(z.number()),
  }),
  z.strictObject({
    kind: z.literal("survival"),
    name: z.string(),
    trajectories: z.array(ending),
    steps: z.array(z.tuple([z.number(), z.number(), z.number(), z.number(), bounds])),
    median: z.number().nullable(),
  }),
  z.strictObject({
    kind: z.literal("bootstrap"),
    name: z.string(),
    seed: z.number(),
    trajectories: z.array(z.array(ending)),
    steps: z.array(z.tuple([z.number(), z.number(), bounds])),
    median: z.number().nullable(),
  }),
]);
type Line = z.infer<typeof Line>;

const lines = readFileSync(new URL("./reference-statistics.fixture.jsonl", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => Line.parse(JSON.parse(line)));

function linesOf<Kind extends Line["kind"]>(kind: Kind): Extract<Line, { kind: Kind }>[] {
  return lines.filter((line): line is Extract<Line, { kind: Kind }> => line.kind === kind);
}

const sumsOf = (clusters: number[][]) =>
  clusters.map((cluster) => ({
    count: cluster.length,
    sum: cluster.reduce((sum, value) => sum + value, 0),
  }));

/** Within 1e-9. */
const near = (value: number): number => expect.closeTo(value, 9);
const nearBounds = (interval: [number, number] | null) =>
  interval && { level: 0.95, lower: near(interval[0]), upper: near(interval[1]) };

test("the fixture has all kinds of figures", () => {
  expect(lines.map(({ kind }) => kind).filter((kind, index, all) => all.indexOf(kind) === index)).toEqual(
    Line.options.map(({ shape }) => shape.kind.value),
  );
});

test("quantiles of t are scipy's, of fractional degrees of freedom too", () => {
  for (const { quantiles } of linesOf("t")) {
    for (const [probability, degrees, value] of quantiles) {
      expect(tQuantile(probability, degrees)).toBeCloseTo(value, 9);
    }
  }
});

test.each(linesOf("figures"))("$name: errors and intervals are the reference's", (line) => {
  const sums = sumsOf(line.clusters);
  const moments = momentsOfClusters(sums);
  const error = jackknifeError(sums);
  expect(moments.sum / moments.count).toBeCloseTo(line.mean, 9);
  expect(effectiveClusters(moments)).toBeCloseTo(line.effective, 9);
  expect(error).toBeCloseTo(line.error, 9);
  expect(clusteredError(moments)).toBeCloseTo(line.moments_error, 9);
  expect(scoreInterval(moments, error)).toEqual(nearBounds(line.score_interval));
  if (line.rate_interval) expect(rateInterval(moments, error)).toEqual(nearBounds(line.rate_interval));
});

test.each(linesOf("paired"))("$name: the comparison is the reference's", async (line) => {
  const sums = sumsOf(line.clusters);
  for (const [vectors, { p_value, interval }] of [
    [overallSigns, line],
    [strataSigns, line.stratum],
  ] as const) {
    expect(await pairedDifference(sums, vectors, line.seed)).toEqual({
      difference: near(line.difference),
      pValue: expect.closeTo(p_value, 12),
      interval: nearBounds(interval),
    });
  }
  const [candidate, reference] = line.means;
  expect(await survivesOneFailure(sums, { reference, candidate }, line.seed)).toBe(line.survives);
  expect(detectableDifference(sums)).toEqual({
    minDetectable: line.min_detectable && near(line.min_detectable),
    trajectoriesFor1Point: line.trajectories_for_1_point,
  });
});

test("Holm's adjusted p-values are the reference's", () => {
  for (const { p_values, p_adjusted } of linesOf("holm"))
    expect(holm(p_values)).toEqual(p_adjusted.map(near));
});

test.each(linesOf("survival"))("$name: the survival curve is the reference's", (line) => {
  const { steps, median } = survival(line.trajectories);
  expect(
    steps.map(({ step, atRisk, diverged, survival, interval }) => [
      step,
      atRisk,
      diverged,
      survival,
      interval,
    ]),
  ).toEqual(
    line.steps.map(([step, atRisk, diverged, share, interval]) => [
      step,
      atRisk,
      diverged,
      near(share),
      nearBounds(interval),
    ]),
  );
  expect(median).toBe(line.median);
});

test.each(linesOf("bootstrap"))("$name: the bootstrap's intervals are the reference's", async (line) => {
  const { steps, median } = await bootstrapSurvival(line.trajectories, line.seed);
  expect(steps.map(({ step, survival, interval }) => [step, survival, interval])).toEqual(
    line.steps.map(([step, share, interval]) => [step, near(share), nearBounds(interval)]),
  );
  expect(median).toBe(line.median);
});
