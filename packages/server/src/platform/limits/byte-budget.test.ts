import { expect, test } from "bun:test";
import { createByteBudget } from "./memory.ts";

const megabyte = 1_000_000;
const overloaded = expect.objectContaining({ code: "overloaded", retryAfterS: 1 });

/** The error that a call threw, or undefined. */
function thrownBy(call: () => void): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  return undefined;
}

test("Reserved bytes count until they are released", () => {
  const budget = createByteBudget(80 * megabyte);
  budget.resize(0, 60 * megabyte);
  expect(thrownBy(() => budget.resize(0, 20 * megabyte))).toEqual(overloaded);
  budget.resize(60 * megabyte, 15 * megabyte);
  budget.resize(0, 20 * megabyte);
  expect(budget.reservedBytes()).toBe(35 * megabyte);
  budget.resize(15 * megabyte, 0);
  budget.resize(20 * megabyte, 0);
  expect(budget.reservedBytes()).toBe(0);
});

test("A holder whose larger reservation is refused keeps the old one", () => {
  const budget = createByteBudget(80 * megabyte);
  budget.resize(0, 40 * megabyte);
  budget.resize(0, megabyte);
  expect(thrownBy(() => budget.resize(megabyte, 31 * megabyte))).toEqual(overloaded);
  expect(budget.reservedBytes()).toBe(41 * megabyte);
});

test("Large holders leave an eighth of the budget to small ones", () => {
  const budget = createByteBudget(8 * megabyte);
  for (let reserved = 0; reserved < 7; reserved += 1) budget.resize(0, megabyte);
  expect(thrownBy(() => budget.resize(0, megabyte))).toEqual(overloaded);
  for (let reserved = 0; reserved < 10; reserved += 1) budget.resize(0, 100_000);
  expect(thrownBy(() => budget.resize(0, 100_000))).toEqual(overloaded);
});

test("A request that could never fit gets 413 instead of 503", () => {
  const budget = createByteBudget(8 * megabyte);
  expect(thrownBy(() => budget.resize(0, 8 * megabyte))).toEqual(
    expect.objectContaining({ code: "memory_exceeded", message: expect.stringMatching(/8 MB .* 7 MB/) }),
  );
});

test("Bytes that are in memory already count even beyond the limit", () => {
  const budget = createByteBudget(8 * megabyte);
  budget.resizeAnyway(0, 20 * megabyte);
  expect(thrownBy(() => budget.resize(0, 1))).toEqual(overloaded);
  budget.resizeAnyway(20 * megabyte, 0);
  budget.resize(0, 1);
});
