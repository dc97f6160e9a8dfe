import { expect, test } from "bun:test";
import { parseSearch, stringifySearch } from "../../../search-params.ts";
import { readDatasetSearch } from "./dataset-search.ts";

test("all parameters round-trip through the URL, also ids that look like numbers", () => {
  const whole = { revision: 2, q: "404", sort: "-steps", columns: "steps" };
  expect(readDatasetSearch(parseSearch(stringifySearch(whole)))).toEqual(whole);
});

test("invalid values are ignored", () => {
  expect(readDatasetSearch({ revision: 0, q: "", sort: "a b" })).toEqual({});
  expect(readDatasetSearch({ revision: "x", q: "a\0", columns: 7 })).toEqual({});
  expect(readDatasetSearch({ revision: 1.5, q: ["a", "b"] })).toEqual({});
});
