import { expect, test } from "bun:test";
import { mersenne } from "pure-rand/generator/mersenne";
import { consistencyOf, kendallTau, type OutcomePair, pairFigures, sequenceOf } from "./outcome-pairs.ts";

function seeded(seed: number): () => number {
  const random = mersenne(seed);
  return () => (random.next() >>> 0) / 2 ** 32;
}

/** Simulated successes in tasks of unlike difficulty, of which this share fails in reality. */
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

test("the interval of false successes covers the truth in 93 % of 500 reality checks and more", async () => {
  let covered = 0;
  for (let seed = 1; seed <= 500; seed += 1) {
    const { false_success_rate: found } = await pairFigures(simulate(seed, 30, 0.2));
    if (found.interval && found.interval.lower <= 0.2 && found.interval.upper >= 0.2) covered += 1;
  }
  expect(covered).toBeGreaterThanOrEqual(465);
});

/** Looks after each task from the 20th to the 300th. Returns whether any lower end is above the limit. */
function rings(seed: number, falseShare: number, limit: number): boolean {
  const random = seeded(seed);
  const seen: { count: number; sum: number }[] = [];
  for (let task = 0; task < 300; task += 1) {
    const count = 1 + Math.floor(3 * random());
    const sum = Array.from({ length: count }, () => random() < falseShare).filter(Boolean).length;
    seen.push({ count, sum });
    if (seen.length >= 20 && (sequenceOf(seen)?.lower ?? 0) > limit) return true;
  }
  return false;
}

test("an alarm that is looked at after every task rings falsely in 5 % at most, and finds what is wrong", () => {
  const alarms = (falseShare: number) =>
    Array.from({ length: 200 }, (_, at) => rings(at + 1, falseShare, 0.1)).filter(Boolean).length;
  expect(alarms(0.1)).toBeLessThanOrEqual(10);
  expect(alarms(0.3)).toBeGreaterThanOrEqual(195);
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
