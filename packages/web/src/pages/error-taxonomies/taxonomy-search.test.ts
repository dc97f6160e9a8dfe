import { expect, test } from "bun:test";
import { readTaxonomySearch } from "./taxonomy-search.ts";

test("the revision and what it is compared with stand in the address bar", () => {
  expect(readTaxonomySearch({ revision: 3, against: 2 })).toEqual({ revision: 3, against: 2 });
});

test("what is no revision is passed over", () => {
  expect(readTaxonomySearch({ revision: "newest", against: -1 })).toEqual({});
});
