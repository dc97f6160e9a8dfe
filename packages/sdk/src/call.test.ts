import { expect, test } from "bun:test";
import { targetOf } from "./call.ts";

test("values that are not set are not in the query; false and 0 are", () => {
  const query = { a: undefined, b: null, c: false, d: 0, e: "", f: "好 &=" };
  expect(targetOf({ path: "/v1/x", query })).toBe("/v1/x?c=false&d=0&e=&f=%E5%A5%BD+%26%3D");
});

test("an empty query leaves the path alone", () => {
  expect(targetOf({ path: "/v1/x" })).toBe("/v1/x");
  expect(targetOf({ path: "/v1/x", query: { a: undefined } })).toBe("/v1/x");
});
