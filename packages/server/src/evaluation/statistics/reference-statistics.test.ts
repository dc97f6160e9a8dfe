import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { z } from "zod";
import { bootstrapSurvival } from "./bootstrap-survival.ts";
import {
  clusteredError,
  clusteredMeanInterval,
  clusteredRateInterval,
  momentsOfClusters,
} from "./clustered-interval.ts";
import { detectableDifference } from "./detectable-difference.ts";
import type { FirstDivergence } from "./first-divergence.ts";
import { holm } from "./holm.ts";
import { pairedDifference } from "./paired-difference.ts";
import { signFlipTest } from "./sign-flip-test.ts";
import { tQuantile, tTwoSided } from "./student-t.ts";
import { survival } from "./survival.ts";

/** Made by `reference-statistics.fixture.py`, which describes them. */
const bounds = z.tuple([z.number(), z.number()]).nullable();
const figure = z.tuple([z.number(), z.number(), z.number()]);
const values = z.array(z.array(z.number()));
const ending = z.tuple([z.number(), z.literal([0, 1])]).transform(
  ([lastStep, diverged]): FirstDivergence => ({
    lastStep,
    ending: diverged === 1 ? "diverged" : "recording-ended",
  }),
);
const Line = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("t"), quantiles: z.array(figure), two_sided: z.array(figure) }),
  z.strictObject({
    kind: z.literal("figures"),
    name: z.string(),
    clusters: values,
    mean: z.number(),
    error: z.number(),
    statsmodels_error: z.number(),
    mean_interval: bounds,
    rate_interval: bounds,
  }),
  z.strictObject({
    kind: z.literal("paired"),
    name: z.string(),
    seed: z.number(),
    clusters: values,
    difference: z.number(),
    p_value: z.number(),
    interval: bounds,
    p_permutation: z.number(),
    min_detectable: z.number(),
    trajectories_for_1_point: z.number(),
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

test("quantiles and probabilities of t are those of its series", () => {
  for (const { quantiles, two_sided } of linesOf("t")) {
    for (const [probability, degrees, value] of quantiles) {
      expect(tQuantile(probability, degrees)).toBeCloseTo(value, 9);
    }
    for (const [t, degrees, value] of two_sided) expect(tTwoSided(t, degrees)).toBeCloseTo(value, 9);
  }
});

test.each(linesOf("figures"))("$name: errors and intervals are the reference's and statsmodels'", (line) => {
  const moments = momentsOfClusters(sumsOf(line.clusters));
  expect(moments.sum / moments.count).toBeCloseTo(line.mean, 9);
  expect(clusteredError(moments)).toBeCloseTo(line.error, 9);
  expect(clusteredError(moments)).toBeCloseTo(line.statsmodels_error, 9);
  expect(clusteredMeanInterval(moments)).toEqual(nearBounds(line.mean_interval));
  if (line.rate_interval) expect(clusteredRateInterval(moments)).toEqual(nearBounds(line.rate_interval));
});

test.each(linesOf("paired"))("$name: the comparison is the reference's", async (line) => {
  const sums = sumsOf(line.clusters);
  expect(pairedDifference(sums)).toEqual({
    difference: near(line.difference),
    pValue: near(line.p_value),
    interval: nearBounds(line.interval),
  });
  const p = await signFlipTest(
    sums.map(({ sum }) => sum),
    line.seed,
  );
  expect(p).toBeCloseTo(line.p_permutation, 12);
  expect(detectableDifference(sums)).toEqual({
    minDetectable: near(line.min_detectable),
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
