import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { correctedRate, type LabelledCluster } from "./corrected-rate.ts";

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
    const found = correctedRate(clusters);
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
  expect(correctedRate(some)).toMatchObject({
    ...{ passRate: 0.5, interval: null, labels: 4, lambda: 0 },
    note: "Fewer than 6 trajectories have labels.",
  });
  const certain = { count: 0, passes: 0, certain: 4, labels: [] };
  expect(correctedRate([...some, certain]).passRate).toBe(0.75);
  expect(correctedRate([certain])).toMatchObject({ passRate: null, note: "There are no labels." });
});
