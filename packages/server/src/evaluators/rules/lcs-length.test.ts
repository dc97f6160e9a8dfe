import { expect, test } from "bun:test";
import type { Draw } from "../../../../../fuzz/generate/draw.ts";
import { seeded } from "../../../test/support/seeded.ts";
import { lcsLength } from "./rouge-l.ts";

// The table from Wagner & Fischer (1974).
function slowLength(one: readonly string[], other: readonly string[]): number {
  let above = new Array<number>(other.length + 1).fill(0);
  for (const token of one) {
    const here = [0];
    for (const [column, wanted] of other.entries()) {
      here.push(
        token === wanted ? (above[column] ?? 0) + 1 : Math.max(above[column + 1] ?? 0, here[column] ?? 0),
      );
    }
    above = here;
  }
  return above.at(-1) ?? 0;
}

function randomTokens(draw: Draw, alphabet: number, length: number): string[] {
  return Array.from({ length }, () => String(draw.below(alphabet)));
}

test("the textbook pairs have their lengths", () => {
  expect(lcsLength([..."ABCBDAB"], [..."BDCABA"])).toBe(4);
  expect(lcsLength([..."XMJYAUZ"], [..."MZJAWXU"])).toBe(4);
  expect(lcsLength([], ["a"])).toBe(0);
  expect(lcsLength(["a", "b"], ["a", "b"])).toBe(2);
});

test.each([[2], [10], [200]])(
  "random texts over %p tokens have the length of the definition",
  seeded((draw, alphabet: number) => {
    for (const length of [1, 31, 32, 33, 63, 64, 65, 500]) {
      const one = randomTokens(draw, alphabet, length);
      const other = randomTokens(draw, alphabet, 1 + draw.below(2 * length));
      expect(lcsLength(one, other)).toBe(slowLength(one, other));
    }
  }),
);

test("texts of 50,000 equal tokens, the worst there are, are compared in bounded time", () => {
  const same = new Array<string>(50_000).fill("a");
  expect(lcsLength(["x", ...same, "x"], ["y", ...same, ...same, "y"])).toBe(50_000);
}, 300_000);
