import { expect, test } from "bun:test";
import { parseJsonObject } from "./parse-json.ts";

test("an object is parsed", () => {
  expect(parseJsonObject('{"threshold": 0.5}')).toEqual({ value: { threshold: 0.5 } });
});

test("invalid JSON, and JSON that is not an object, are issues", () => {
  expect(parseJsonObject('{"threshold":')).toEqual({ issue: expect.stringContaining("Invalid JSON") });
  expect(parseJsonObject("[1]")).toEqual({ issue: "This must be an object: {…}" });
});
