import { expect, test } from "bun:test";
import { firstOf } from "./samples.ts";

test("the first of many are those of the whole order, and others have their turns meanwhile", async () => {
  const many = Array.from({ length: 60_000 }, (_, index) => (index * 7_919) % 60_000);
  let turns = 0;
  const counting = setInterval(() => {
    turns += 1;
  }, 0);
  const first = await firstOf(many, 3, (a, b) => a - b);
  clearInterval(counting);
  expect(first).toEqual([0, 1, 2]);
  expect(turns).toBeGreaterThan(1);
});

test("there may be fewer than wanted", async () => {
  expect(await firstOf([2, 1], 3, (a, b) => a - b)).toEqual([1, 2]);
  expect(await firstOf<number>([], 3, (a, b) => a - b)).toEqual([]);
});
