import { expect, test } from "bun:test";
import { isDeeperThan, maxJsonDepth, readExactJson, readJson } from "./json.ts";

const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);

test("long integers keep their digits where they have to", () => {
  expect(readExactJson('{"a":9007199254740993,"b":1.5,"c":123}')).toEqual({
    value: { a: 9007199254740993n, b: 1.5, c: 123 },
  });
  expect(readJson("9007199254740993")).toEqual({ value: 9007199254740992 });
  expect(readExactJson('"9007199254740993"')).toEqual({ value: "9007199254740993" });
});

test("a key named __proto__ is a key like any other", () => {
  const { value } = readExactJson('{"__proto__":{"a":1},"b":9007199254740993}') as { value: object };
  expect(Object.keys(value)).toEqual(["__proto__", "b"]);
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
});

test("nesting is bounded, and the issue is reported", () => {
  expect(readJson(nested(maxJsonDepth)).issue).toBeUndefined();
  expect(readExactJson(nested(maxJsonDepth).replace("[]", "[9007199254740993]")).issue).toBeUndefined();
  expect(readJson(nested(10_000)).issue).toEqual({ at: 1_000, reason: "nested deeper than 1000 levels" });
  expect(readJson("[".repeat(10_000)).issue?.reason).toContain("nested");
});

test("what is not JSON has a place where it breaks", () => {
  expect(readJson('{"a":1,}').issue?.at).toBe(7);
});

test("depth counts containers, not scalars", () => {
  expect(isDeeperThan(1, 0)).toBe(false);
  expect(isDeeperThan({}, 0)).toBe(true);
  expect(isDeeperThan({ a: [1] }, 2)).toBe(false);
  expect(isDeeperThan({ a: [{}] }, 2)).toBe(true);
});
