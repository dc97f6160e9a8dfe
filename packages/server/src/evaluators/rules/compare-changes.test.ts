import { expect, test } from "bun:test";
import { compareChanges, stateOverlap } from "./state-change.ts";
import { countItems } from "./text.ts";

const items = (text: string) => countItems(text.split(" ").filter((item) => item !== ""));

function compare(before: string, gold: string, output: string) {
  return compareChanges({ before: items(before), gold: items(gold), output: items(output) });
}

// Each figure is counted by hand: 2 · right / (2 · right + missed + wrong).
test.each<[string, string, string, string, number]>([
  ["the gold answer itself", "a b c", "a x c", "a x c", 1],
  ["nothing changed, nothing described", "a b", "a b", "a b", 1],
  ["nothing changed, something described", "a b", "a b", "a x", 0],
  ["a copy of the state before", "a b c", "a x c", "a b c", 0],
  ["one of two changes, the other not described", "a b c", "x y c", "x b c", 2 / 3],
  ["one of two changes, the other wrong", "a b c", "x y c", "x z c", 2 / 4],
  ["everything replaced, by something else", "a b c d e", "x", "z", 0],
  ["a line was added, one that should be removed is still there", "a b", "a x", "a b x", 2 / 3],
  ["a line was added, and one that should stay is missing", "a b", "a b x", "a x", 2 / 3],
  ["a line went, and nothing came", "a b", "a", "a", 1],
  ["one of two lines went", "a b c", "a", "a b", 2 / 3],
  ["a line that was there twice is there once", "a a", "a", "a", 1],
  ["a line came twice, described once", "a", "a x x", "a x", 2 / 3],
  ["an empty output", "a b", "a x", "", 0],
  ["from nothing", "", "x y", "x y", 1],
])("%s", (_, before, gold, output, score) => {
  expect(compare(before, gold, output).score).toBeCloseTo(score, 12);
});

test("each kind of mistake is distinguished", () => {
  const { missing, stale, invented, dropped } = compare("a b c", "a x y", "b z c x");
  expect([missing, stale, invented, dropped].map((kind) => [...kind.keys()])).toEqual([
    ["y"],
    ["b", "c"],
    ["z"],
    ["a"],
  ]);
});

test("the overlap of two states sees what has not changed", () => {
  expect(stateOverlap(items("a b c d"), items("a b c x"))).toBe(0.75);
  expect(stateOverlap(items(""), items(""))).toBe(1);
  expect(stateOverlap(items("a"), items(""))).toBe(0);
});
