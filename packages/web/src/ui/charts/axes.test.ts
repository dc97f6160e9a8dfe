import { expect, test } from "bun:test";
import { placeLabels } from "./axes.tsx";
import { linearScale } from "./scale.ts";

test("labels do not touch each other or the edge, however many steps there are", () => {
  for (const count of [1, 2, 7, 24, 30, 90]) {
    for (const width of [200, 320, 600, 1300]) {
      const texts = Array.from({ length: count }, (_, index) => `${index} Sept`);
      const labels = placeLabels(texts, linearScale([-0.5, count - 0.5], [54, width - 8]), width);
      expect(labels.at(-1)?.text).toBe(texts.at(-1));
      const halves = labels.map(({ text, x }) => [x - text.length * 3.5, x + text.length * 3.5] as const);
      for (const [index, [from, to]] of halves.entries()) {
        expect(from).toBeGreaterThanOrEqual(halves[index - 1]?.[1] ?? 0);
        expect(to).toBeLessThanOrEqual(width);
      }
    }
  }
});

test("each step has its label where there is room", () => {
  const texts = ["1 May", "2 May", "3 May"];
  expect(placeLabels(texts, linearScale([-0.5, 2.5], [0, 300]), 310).map(({ x }) => x)).toEqual([
    50, 150, 250,
  ]);
  expect(placeLabels([], linearScale([0, 1], [0, 1]), 1)).toEqual([]);
});
