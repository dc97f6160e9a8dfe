import { expect, test } from "bun:test";
import { readProfileSearch } from "./profile-search.ts";

test("the revisions to compare are read from the URL", () => {
  expect(readProfileSearch({ from: 1, to: 3 })).toEqual({ from: 1, to: 3 });
});

test("invalid revisions are ignored", () => {
  expect(readProfileSearch({ from: 0, to: "two" })).toEqual({});
  expect(readProfileSearch({ to: 1.5 })).toEqual({});
});
