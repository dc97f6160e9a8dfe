import { expect, test } from "bun:test";
import { readTiming } from "./predictions.ts";

test("the upstream's time and the total are read", () => {
  expect(readTiming("upstream;dur=812.40, total;dur=813.02")).toEqual({ totalMs: 813.02, upstreamMs: 812.4 });
});

test("a response without an upstream has only a total", () => {
  expect(readTiming("total;dur=0.82")).toEqual({ totalMs: 0.82, upstreamMs: undefined });
});

test("entries of proxies are ignored", () => {
  expect(readTiming('cache;desc="hit; fresh";dur=x, total;desc=all;dur=5')).toEqual({
    totalMs: 5,
    upstreamMs: undefined,
  });
  expect(readTiming(null)).toBeUndefined();
  expect(readTiming("cdn;dur=3")).toBeUndefined();
});
