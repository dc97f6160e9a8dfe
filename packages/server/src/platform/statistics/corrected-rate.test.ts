import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import {
  correctedDifference,
  correctedRate,
  type LabelledCluster,
  type LabelledVerdicts,
} from "./corrected-rate.ts";
import { tQuantile } from "./intervals.ts";

interface Line {
  labels: string[];
  weights: number[];
  rest: string;
  lambda: number;
  rate: number;
  interval: [number, number];
}

/** Made by `corrected-rate.fixture.py`, which describes them. */
const lines = readFileSync(new URL("./corrected-rate.fixture.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Line);

const verdict = (isPass: boolean, labels: LabelledCluster["labels"] = []): LabelledCluster => ({
  ...{ count: 1, passes: Number(isPass), certain: 0, labels },
});

const together = (clusters: readonly LabelledCluster[], isByKind = false): LabelledVerdicts => ({
  clusters: new Map(clusters.map((one, index) => [`t${index}`, one])),
  isByKind,
});

test("of one verdict a trajectory it is ppi_py's, to 1e-9", () => {
  expect(lines).toHaveLength(60);
  for (const { labels, weights, rest, lambda, rate, interval } of lines) {
    const clusters = [
      ...labels.map((pair, index) => {
        const [isLabelledPass, isPass] = [pair[0] === "1", pair[1] === "1"];
        return verdict(isPass, [{ isPass, isLabelledPass, weight: weights[index] ?? 1 }]);
      }),
      ...Array.from(rest, (pass) => verdict(pass === "1")),
    ];
    const found = correctedRate(together(clusters, new Set(weights).size > 1));
    expect(found.lambda).toBeCloseTo(lambda, 9);
    expect(found.passRate).toBeCloseTo(rate, 9);
    expect(found.interval?.lower).toBeCloseTo(interval[0], 8);
    expect(found.interval?.upper).toBeCloseTo(interval[1], 8);
    expect(found.labels).toBe(labels.length);
  }
});

test("labels of all are their own rate; what is certain counts as passed; few trajectories have no interval", () => {
  const label = (isPass: boolean, isLabelledPass: boolean) =>
    verdict(isPass, [{ isPass, isLabelledPass, weight: 1 }]);
  const some = [label(true, true), label(true, false), label(false, false), label(true, true)];
  expect(correctedRate(together(some))).toMatchObject({
    ...{ passRate: 0.5, interval: null, labels: 4, lambda: 0 },
    note: "Fewer than 6 trajectories have labels.",
  });
  const certain = { count: 0, passes: 0, certain: 4, labels: [] };
  expect(correctedRate(together([...some, certain])).passRate).toBe(0.75);
  expect(correctedRate(together([certain]))).toMatchObject({
    passRate: null,
    note: "There is no labelled verdict that most people pass or fail.",
  });
});

test("people who fail all that they label leave the rest open, as 0 of as many do; so do two runs of such", () => {
  const clusters = Array.from({ length: 60 }, (_, index): LabelledCluster => {
    const certain = index % 3 === 0 ? 6 : 3;
    const labels = index < 20 ? [{ isPass: true, isLabelledPass: false, weight: 1 }] : [];
    return { count: 10 - certain, passes: 4, certain, labels };
  });
  const { passRate, interval, lambda, gain } = correctedRate(together(clusters));
  expect({ passRate, lambda, gain }).toEqual({ passRate: 0.4, lambda: 0, gain: 1 });
  // The interval of 0 of 20, with t for z, reaches up to 0.18 of the rest.
  expect(interval?.lower).toBeWithin(0.35, 0.37);
  expect(interval?.upper).toBeWithin(0.505, 0.53);
  expect(correctedDifference(together(clusters), together(clusters))).toMatchObject({
    ...{ difference: 0, interval: null },
    note: "All labelled trajectories of one of the runs are alike, which does not show how far others would differ.",
  });
});

test("if passes and fails were drawn apart, labels of one kind do not stand for the other", () => {
  const label = { isPass: true, isLabelledPass: true, weight: 5 };
  const clusters = Array.from({ length: 8 }, () => ({ count: 4, passes: 2, certain: 0, labels: [label] }));
  expect(correctedRate(together(clusters, true))).toMatchObject({
    ...{ passRate: null, interval: null, labels: 8 },
    note: "No verdict that fails has a label.",
  });
  expect(correctedRate(together(clusters)).passRate).toBe(1);
});

/** The evaluator's verdict, and people's if there is one. */
interface Verdict {
  cluster: string;
  f: number;
  y: number | undefined;
}

/** θ = λ·f̄ of the verdicts without labels + the labels' mean of y − λ·f, by its definition. */
function rateByDefinition(verdicts: readonly Verdict[], lambda: number): number {
  const mean = (of: readonly number[]) => of.reduce((sum, one) => sum + one, 0) / of.length;
  const labelled = verdicts.filter(({ y }) => y !== undefined);
  const rest = verdicts.filter(({ y }) => y === undefined);
  return (
    (rest.length === 0 ? 0 : lambda * mean(rest.map(({ f }) => f))) +
    mean(labelled.map(({ y = 0, f }) => y - lambda * f))
  );
}

function clustersOf(verdicts: readonly Verdict[]): LabelledVerdicts {
  const clusters = [...Map.groupBy(verdicts, ({ cluster }) => cluster)].map(([name, own]) => {
    const labels = own.flatMap(({ f, y }) =>
      y === undefined ? [] : [{ isPass: f === 1, isLabelledPass: y === 1, weight: 1 }],
    );
    const passes = own.filter(({ f }) => f === 1).length;
    return [name, { count: own.length, passes, certain: 0, labels }] as const;
  });
  return { clusters: new Map(clusters), isByKind: false };
}

test("the difference of two corrected rates is the jackknife's of its definition, in 200 random pairs of runs", () => {
  let state = 7;
  const random = () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
  const newRun = (trajectories: number, rate: number): Verdict[] =>
    Array.from({ length: trajectories }, (_, index) => index).flatMap((index) =>
      Array.from({ length: 1 + Math.floor(5 * random()) }, () => {
        const y = Number(random() < rate);
        const f = random() < 0.85 ? y : 1 - y;
        return { cluster: `t${index}`, f, y: random() < 0.4 ? y : undefined };
      }),
    );
  const labelsBy = (run: readonly Verdict[]) =>
    [...clustersOf(run).clusters.values()].map(({ labels }) => labels.length).filter((count) => count > 0);
  let compared = 0;
  while (compared < 200) {
    const runs = [newRun(9 + (compared % 20), 0.6), newRun(9 + (compared % 17), 0.7)] as const;
    const [one, other] = runs;
    const isAlike = (run: readonly Verdict[]) => new Set(run.flatMap(({ y }) => y ?? [])).size < 2;
    if (runs.some((run) => labelsBy(run).length < 6 || isAlike(run))) continue;
    compared += 1;
    const [lambda, otherLambda] = runs.map((run) => correctedRate(clustersOf(run)).lambda);
    const of = (left?: string) =>
      rateByDefinition(
        other.filter(({ cluster }) => cluster !== left),
        otherLambda ?? 0,
      ) -
      rateByDefinition(
        one.filter(({ cluster }) => cluster !== left),
        lambda ?? 0,
      );
    const names = [...new Set([...one, ...other].map(({ cluster }) => cluster))];
    const without = names.map(of);
    const middle = without.reduce((sum, value) => sum + value, 0) / names.length;
    const squares = without.reduce((sum, value) => sum + (value - middle) ** 2, 0);
    const error = Math.sqrt(((names.length - 1) / names.length) * squares);
    const effective = Math.min(
      ...runs.map((run) => {
        const counts = labelsBy(run);
        const sum = counts.reduce((total, count) => total + count, 0);
        return sum ** 2 / counts.reduce((total, count) => total + count ** 2, 0);
      }),
    );
    const reach = tQuantile(0.975, effective - 1) * error;
    const found = correctedDifference(clustersOf(one), clustersOf(other));
    const clip = (rate: number) => Math.min(1, Math.max(0, rate));
    const expected =
      clip(rateByDefinition(other, otherLambda ?? 0)) - clip(rateByDefinition(one, lambda ?? 0));
    expect(found.difference).toBeCloseTo(expected, 12);
    expect(found.interval?.lower).toBeCloseTo(Math.max(-1, expected - reach), 9);
    expect(found.interval?.upper).toBeCloseTo(Math.min(1, expected + reach), 9);
  }
  const few = clustersOf(Array.from({ length: 5 }, (_, index) => ({ cluster: `t${index}`, f: 1, y: 1 })));
  expect(correctedDifference(few, few)).toMatchObject({ difference: 0, interval: null });
  expect(correctedDifference(clustersOf([]), few)).toMatchObject({ difference: null, interval: null });
});
