import { expect, test } from "bun:test";
import { readJsonObject } from "./parse-json-object.ts";

test("an object is read", () => {
  expect(readJsonObject('{"threshold": 0.5}')).toEqual({ value: { threshold: 0.5 } });
});

test("what is no JSON, and JSON that is no object, say so", () => {
  expect(readJsonObject('{"threshold":')).toEqual({ fault: expect.stringContaining("no JSON") });
  expect(readJsonObject("[1]")).toEqual({ fault: "This has to be an object: {…}" });
});
