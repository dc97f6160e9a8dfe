import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { z } from "zod";
import { applyTable, calibrate, fitCalibration, fitIsotonic, fitLogistic } from "./calibration.ts";
import { confidenceCard } from "./confidence.ts";

/** Made by `confidence.fixture.py`, which describes them. */
const bounds = z.tuple([z.number(), z.number()]).nullable();
const figure = z.tuple([z.number(), bounds]);
const numbers = z.array(z.number());
const Line = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("card"),
    name: z.string(),
    confidences: numbers,
    right: numbers,
    trajectories: numbers,
    brier: figure,
    parts: z.tuple([z.number(), z.number(), z.number()]),
    ece: figure,
    expected: z.tuple([z.number(), z.number()]),
    auroc: figure,
    aurc: figure,
    reliability: z.array(z.tuple([z.number(), z.number(), z.number(), bounds])),
    risks: z.array(z.tuple([z.number(), z.number(), bounds])),
    coverage_at_risk: z.number(),
  }),
  z.strictObject({
    kind: z.literal("isotonic"),
    name: z.string(),
    scores: numbers,
    right: numbers,
    curve: numbers,
  }),
  z.strictObject({ kind: z.literal("logistic"), scores: z.array(numbers), right: numbers, fitted: numbers }),
]);
const lines = readFileSync(new URL("confidence.fixture.jsonl", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => Line.parse(JSON.parse(line)));

const near = (value: number) => expect.closeTo(value, 9);
const nearBounds = (pair: z.infer<typeof bounds>) =>
  pair && { level: 0.95, lower: near(pair[0]), upper: near(pair[1]) };

for (const line of lines.filter((one) => one.kind === "card")) {
  test(`the card of confidences equals the reference's: ${line.name}`, async () => {
    const card = await confidenceCard(judged(line));
    for (const name of ["brier", "ece", "auroc", "aurc"] as const) {
      const { value, interval } = card[name];
      expect({ name, value, interval }).toEqual({
        name,
        value: near(line[name][0]),
        interval: nearBounds(line[name][1]),
      });
    }
    const { reliability = 0, resolution = 0, uncertainty = 0, within_bins = 0 } = card.brier.parts ?? {};
    expect([reliability, resolution, uncertainty]).toEqual(line.parts.map(near));
    expect(reliability - resolution + uncertainty + within_bins).toBeCloseTo(line.brier[0], 12);
    const [expected, error] = line.expected;
    expect(Math.abs((card.ece.expected ?? 0) - expected)).toBeLessThan(6 * error);
    expect(card.reliability.map((bin) => [bin.count, bin.confidence, bin.pass_rate, bin.interval])).toEqual(
      line.reliability.map(([count, mean, rate, pair]) => [count, near(mean), near(rate), nearBounds(pair)]),
    );
    const risks = new Map(line.risks.map((one) => [one[0].toFixed(9), one]));
    for (const { coverage, risk, interval } of card.risk_coverage) {
      const [, known = -1, pair = null] = risks.get(coverage.toFixed(9)) ?? [];
      expect({ risk, interval }).toEqual({ risk: near(known), interval: nearBounds(pair) });
    }
    expect(card.risk_coverage.at(-1)?.coverage).toBe(1);
    expect(card.coverage_at_risk.value).toBeCloseTo(line.coverage_at_risk, 9);
  });
}

for (const line of lines.filter((one) => one.kind === "isotonic")) {
  test(`isotonic regression equals scikit-learn's: ${line.name}`, async () => {
    const table = await fitIsotonic(line.scores, line.right);
    const grid = line.curve.map((_, index) => Number((index / (line.curve.length - 1)).toFixed(3)));
    expect(grid.map((score) => applyTable(table, score))).toEqual(line.curve.map(near));
  });
}

for (const line of lines.filter((one) => one.kind === "logistic")) {
  const methods = line.scores[0]?.length ?? 0;
  test(`fewer than 200 samples get logistic regression of ${methods} methods`, async () => {
    const samples = line.scores.map((scores, index) => ({
      scores,
      isRight: line.right[index] === 1,
      trajectory: String(index % 30),
    }));
    const fitted = await fitCalibration(samples);
    expect(fitted).toEqual({
      kind: "logistic",
      weights: line.fitted.slice(0, -1).map(near),
      bias: near(line.fitted.at(-1) ?? 0),
    });
    expect(await fitCalibration(samples.slice(0, 49))).toBeUndefined();
    const more = await fitCalibration([...samples, ...samples]);
    expect([more?.kind, more !== undefined && "combined" in more]).toEqual(["isotonic", methods > 1]);
    const few = await fitCalibration([...samples, ...samples].map((one) => ({ ...one, trajectory: "one" })));
    expect(few?.kind).toBe("logistic");
    if (more === undefined) throw new Error("nothing was fitted");
    const low = calibrate(more, Array(methods).fill(0.05));
    expect(calibrate(more, Array(methods).fill(0.95))).toBeGreaterThan(low);
  });
}

test("one score for all, or one verdict, is fitted too", async () => {
  const { weights, bias } = await fitLogistic(Array(60).fill([0, 0]), Array(60).fill(0.25));
  expect([...weights, bias]).toEqual([0, 0, near(Math.log(1 / 3))]);
  const allRight = Array.from({ length: 60 }, (_, index) => ({
    scores: [index / 60],
    isRight: true,
    trajectory: "",
  }));
  const fitted = await fitCalibration(allRight);
  expect(fitted && calibrate(fitted, [0.5])).toBeCloseTo(61 / 62, 9);
});

test("a method that says the opposite gets a negative weight, and no curve that falls", async () => {
  const opposite = Array.from({ length: 300 }, (_, index) => ({
    scores: [((index * 7) % 100) / 100],
    isRight: (index * 7) % 100 < 50,
    trajectory: String(index % 30),
  }));
  expect(await fitCalibration(opposite)).toEqual({ kind: "isotonic", x: [0, 0.99], y: [0.5, 0.5] });
  const few = await fitCalibration(opposite.slice(0, 100));
  expect(few?.kind === "logistic" && (few.weights[0] ?? 0)).toBeLessThan(0);
});

test("others have their turns while many are fitted", async () => {
  const many = Array.from({ length: 60_000 }, (_, index) => ({
    scores: [(index % 97) / 97, (index % 89) / 89],
    isRight: index % 97 > 40,
    trajectory: String(index % 30),
  }));
  let turns = 0;
  const others = setInterval(() => (turns += 1), 0);
  const fitted = await fitCalibration(many).finally(() => clearInterval(others));
  expect(fitted?.kind).toBe("isotonic");
  expect(turns).toBeGreaterThan(5);
});

test("fewer than 50 predictions have no figures, and one verdict alone no AUROC", async () => {
  const some = (count: number, right: number) => ({
    confidences: Array.from({ length: count }, (_, index) => (index % 10) / 10),
    right: Array.from({ length: count }, (_, index) => (index < right ? 1 : 0)),
    trajectories: Array.from({ length: count }, (_, index) => index % 10),
  });
  const few = await confidenceCard(judged(some(49, 20)));
  expect([few.brier.value, few.auroc.value, few.coverage_at_risk.value]).toEqual([null, null, null]);
  expect(few.brier.note).toBe(
    "There are 49 predictions with a confidence and a verdict; the figures take 50.",
  );
  const all = await confidenceCard(judged(some(50, 50)));
  expect([all.auroc.value, all.auroc.note]).toEqual([
    null,
    "All predictions are right, so that none can be told from others.",
  ]);
  const one = await confidenceCard(judged(some(50, 1)));
  expect([typeof one.auroc.value, one.auroc.interval, one.auroc.note]).toEqual([
    "number",
    null,
    "There is no interval: without one of the trajectories, the figure is not defined.",
  ]);
  expect((await confidenceCard(judged(some(0, 0)))).brier.effective_trajectories).toBeNull();
});

function judged(some: { confidences: number[]; right: number[]; trajectories: number[] }) {
  return {
    confidences: Float64Array.from(some.confidences),
    right: Uint8Array.from(some.right),
    trajectories: Int32Array.from(some.trajectories),
  };
}
