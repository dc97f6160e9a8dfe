import { expect, test } from "bun:test";
import { rankCorrelation } from "./rank-correlation.ts";

interface Reference {
  one: number[];
  other: number[];
  clusters: number[];
  value: number | null;
  without: (number | null)[];
}

const cases: Reference[] = (
  await Bun.file(new URL("./rank-correlation.fixture.jsonl", import.meta.url).pathname).text()
)
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line));

test("The rank correlation is scipy's, also without each cluster", async () => {
  expect(cases.length).toBe(40);
  for (const { one, other, clusters, value, without } of cases) {
    const found = await rankCorrelation({
      one: Float64Array.from(one),
      other: Float64Array.from(other),
      clusters: Int32Array.from(clusters),
    });
    for (const [index, expected] of [value, ...without].entries()) {
      const own = index === 0 ? found.value : found.without[index - 1];
      if (expected === null) expect(own).toBeNaN();
      else expect(own).toBeCloseTo(expected, 12);
    }
  }
});

test("Many clusters are left out some together", async () => {
  const count = 1_000;
  const numbers = Float64Array.from({ length: count }, (_, index) => index % 7);
  const clusters = Int32Array.from({ length: count }, (_, index) => index);
  const { value, without } = await rankCorrelation({ one: numbers, other: numbers, clusters });
  expect(value).toBe(1);
  expect([...new Set(without)]).toEqual([1]);
  expect(without.length).toBe(100);
});
