import { expect, test } from "bun:test";
import { readJsonPointer, toJsonPointer } from "./json.ts";

// The examples of RFC 6901, section 5.
test.each([
  ["", []],
  ["/foo", ["foo"]],
  ["/foo/0", ["foo", "0"]],
  ["/", [""]],
  ["/a~1b", ["a/b"]],
  ["/m~0n", ["m~n"]],
  ["/~01", ["~1"]],
])("the pointer %j is read and written", (pointer, keys) => {
  expect(readJsonPointer(pointer)).toEqual(keys);
  const path = keys.reduce<Parameters<typeof toJsonPointer>[0]>(
    (parent, key) => ({ parent, key }),
    undefined,
  );
  expect(toJsonPointer(path)).toBe(pointer);
});

test("what is not a pointer is rejected", () => {
  expect(readJsonPointer("foo")).toBeUndefined();
  expect(readJsonPointer("/a~2")).toBeUndefined();
});

test("long keys are cut", () => {
  expect(toJsonPointer({ parent: undefined, key: "k".repeat(100_000) }).length).toBeLessThan(200);
});
