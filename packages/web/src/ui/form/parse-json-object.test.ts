import { expect, test } from "bun:test";
import { parseJsonObject } from "./parse-json-object.ts";

test("an object is read", () => {
  expect(parseJsonObject('{"threshold": 0.5}')).toEqual({ value: { threshold: 0.5 } });
});

test("what is no JSON, and JSON that is no object, say so", () => {
  expect(parseJsonObject('{"threshold":')).toEqual({ issue: expect.stringContaining("no JSON") });
  expect(parseJsonObject("[1]")).toEqual({ issue: "This has to be an object: {…}" });
});
