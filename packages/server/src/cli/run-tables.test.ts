import { expect, test } from "bun:test";
import { measureRate } from "./run-tables.ts";

test("the progress has a rate while samples end, and says for how long none has", () => {
  let now = 0;
  const rate = measureRate(() => now);
  const at = (ms: number, evaluated: number) => {
    now = ms;
    return rate({ evaluated, samples: 72 }).describe();
  };
  expect(at(0, 0)).toBe("");
  expect(at(9_000, 0)).toBe("");
  expect(at(12_000, 0)).toBe("; no sample has ended for 12 s");
  expect(at(13_000, 26)).toBe(", 2.0/s, 23 s left");
  expect(at(20_000, 26)).toBe(", 1.3/s, 36 s left");
  expect(at(163_000, 26)).toBe("; no sample has ended for 3 min");
  expect(at(164_000, 72)).not.toContain("no sample");
  expect(at(200_000, 72)).not.toContain("no sample");
});
