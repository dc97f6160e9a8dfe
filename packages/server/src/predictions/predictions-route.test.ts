import { expect, test } from "bun:test";
import { readMaxAge } from "./predictions-route.ts";

const forever = Number.POSITIVE_INFINITY;

test.each<[string | null, number | undefined]>([
  [null, forever],
  ["", forever],
  ["no-transform, min-fresh=3", forever],
  ["max-age=60", 60],
  [' Max-Age = "60" , no-transform', 60],
  ["max-age=60, max-age=30", 30],
  ["max-age=0", 0],
  ["max-age=-1, max-age=x, max-age", forever],
  ["no-cache", 0],
  ["max-age=60,NO-CACHE", 0],
  ["no-cache, no-store", undefined],
  ["no-storeroom", forever],
])("Cache-Control %p allows an age of %p seconds", (header, expected) => {
  expect(readMaxAge(header)).toBe(expected);
});
