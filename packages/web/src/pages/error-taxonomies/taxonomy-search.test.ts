import { expect, test } from "bun:test";
import { readTaxonomySearch } from "./taxonomy-search.ts";

test("the revision and the one to compare with are read from the URL", () => {
  expect(readTaxonomySearch({ revision: 3, against: 2 })).toEqual({ revision: 3, against: 2 });
});

test("invalid revisions are ignored", () => {
  expect(readTaxonomySearch({ revision: "newest", against: -1 })).toEqual({});
});
