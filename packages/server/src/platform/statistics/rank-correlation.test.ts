import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { z } from "zod";
import { kendallTau, rewardFigures } from "./outcome-pairs.ts";

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
