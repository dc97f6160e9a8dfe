import { expect, test } from "bun:test";
import { type Json, maxJsonDepth } from "./json.ts";
import { jsonFields } from "./state-change.ts";

test("fields are named by JSON pointers", () => {
  // Pointers as in RFC 6901, section 5.
  expect(jsonFields({ foo: ["bar", 0], "": null, "a/b": true, "m~n": { x: {} }, é: [] })).toEqual([
    '/foo/0 = "bar"',
    "/foo/1 = 0",
    "/ = null",
    "/a~1b = true",
    "/m~0n/x = {}",
    "/é = []",
  ]);
  expect(jsonFields([])).toEqual([" = []"]);
  expect(jsonFields(12345678901234567890n)).toEqual([" = 12345678901234567890"]);
});

test("a value that looks like a field is not one", () => {
  expect(jsonFields({ a: "b = 1" })).not.toEqual(jsonFields({ 'a = "b': 1 }));
});

test("a document of the maximum depth is read", () => {
  let document: Json = 1;
  for (let depth = 0; depth < maxJsonDepth; depth += 1) document = [document];
  expect(jsonFields(document)).toEqual([`${"/0".repeat(maxJsonDepth)} = 1`]);
});

test("a deep and long document is rejected before it fills the memory", () => {
  let document: Json = new Array<Json>(100_000).fill(1);
  for (let depth = 1; depth < maxJsonDepth; depth += 1) document = [document];
  expect(() => jsonFields(document)).toThrow("too deep and too long");
});
