import { expect, test } from "bun:test";
import { targetOf } from "./call.ts";

test("unset parameters are left out of the query, but false and 0 are not", () => {
  const query = { a: undefined, b: null, c: false, d: 0, e: "", f: "好 &=" };
  expect(targetOf({ path: "/v1/x", query })).toBe("/v1/x?c=false&d=0&e=&f=%E5%A5%BD+%26%3D");
});

test("an empty query leaves the path unchanged", () => {
  expect(targetOf({ path: "/v1/x" })).toBe("/v1/x");
  expect(targetOf({ path: "/v1/x", query: { a: undefined } })).toBe("/v1/x");
});
