import { expect, test } from "bun:test";
import { readProfileSearch } from "./profile-search.ts";

test("the revisions that are compared stand in the address bar", () => {
  expect(readProfileSearch({ from: 1, to: 3 })).toEqual({ from: 1, to: 3 });
});

test("what is no revision is passed over", () => {
  expect(readProfileSearch({ from: 0, to: "two" })).toEqual({});
  expect(readProfileSearch({ to: 1.5 })).toEqual({});
});
