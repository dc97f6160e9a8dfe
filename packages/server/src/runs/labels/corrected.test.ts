import { expect, test } from "bun:test";
import { inclusionProbability, type Stratum } from "./corrected.ts";

const uniform = (taken: number, count: number): Stratum[] => [
  { pass: null, count, probability: taken / count },
];
const byVerdict = (taken: [number, number], counts: [number, number]): Stratum[] => [
  { pass: true, count: counts[0], probability: taken[0] / counts[0] },
  { pass: false, count: counts[1], probability: taken[1] / counts[1] },
];

test("alone, a draw takes with its own probability; those of other seeds are independent", () => {
  const alone = [{ seed: 1, strata: byVerdict([10, 5], [80, 20]) }];
  expect([true, false].map((isPass) => inclusionProbability(alone, isPass))).toEqual([0.125, 0.25]);
  const uniformAlone = [{ seed: 1, strata: uniform(25, 100) }];
  expect(inclusionProbability(uniformAlone, true)).toBe(0.25);
  expect(inclusionProbability([...alone, { seed: 2, strata: uniform(25, 100) }], true)).toBeCloseTo(
    1 - 0.875 * 0.75,
    12,
  );
});

test("the larger of two alike draws of a seed has the smaller", () => {
  const draws = [10, 20].map((taken) => ({ seed: 1, strata: uniform(taken, 100) }));
  expect(inclusionProbability(draws, true)).toBeCloseTo(0.2, 12);
});

/** The shares of passes and of fails among the first of one order, as draws take them. */
function simulate(all: [number, number], ofAll: number, ofKinds: [number, number], rounds: number) {
  const verdicts = Array.from({ length: all[0] + all[1] }, (_, index) => index < all[0]);
  const taken: [number, number] = [0, 0];
  for (let round = 0; round < rounds; round++) {
    const order = verdicts
      .map((pass, id) => ({ pass, place: Bun.hash.xxHash32(`${round} ${id}`) }))
      .sort((a, b) => a.place - b.place);
    const seen: [number, number] = [0, 0];
    for (const [rank, { pass }] of order.entries()) {
      const kind = pass ? 0 : 1;
      seen[kind] += 1;
      if (rank < ofAll || seen[kind] <= ofKinds[kind]) taken[kind] += 1;
    }
  }
  return taken.map((count, kind) => count / rounds / (all[kind] ?? 1));
}

test.each([
  { all: [50, 50], ofAll: 20, ofKinds: [10, 10] },
  { all: [180, 20], ofAll: 30, ofKinds: [15, 15] },
  { all: [90, 3], ofAll: 10, ofKinds: [7, 3] },
  { all: [12, 8], ofAll: 20, ofKinds: [4, 4] },
] satisfies { all: [number, number]; ofAll: number; ofKinds: [number, number] }[])(
  "uniform and by verdict of one seed: as simulated, %j",
  ({ all, ofAll, ofKinds }) => {
    const draws = [uniform(ofAll, all[0] + all[1]), byVerdict(ofKinds, all)].map((strata) => ({
      seed: 1,
      strata,
    }));
    const shares = simulate(all, ofAll, ofKinds, 4_000);
    for (const [kind, share] of shares.entries())
      expect(Math.abs(inclusionProbability(draws, kind === 0) - share)).toBeLessThan(0.006);
  },
);
