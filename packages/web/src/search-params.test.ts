import { expect, test } from "bun:test";
import { parseSearch, stringifySearch } from "./search-params.ts";

test("numbers, booleans and texts are written into the URL as they are", () => {
  const search = {
    revision: 3,
    min_score: 0.5,
    archived: true,
    app: '{"a":1}',
    since: "2026-11-21T06:30:00Z",
  };
  expect(stringifySearch({ revision: 3, archived: true, app: "shop" })).toBe(
    "?revision=3&archived=true&app=shop",
  );
  expect(parseSearch(stringifySearch(search))).toEqual(search);
});

test("a text that looks like a number can be restored", () => {
  for (const text of ["404", "007", "1e5", "12345678901234567890", "true", "", "Infinity", "0x1f"]) {
    expect(String(parseSearch(stringifySearch({ q: text })).q)).toBe(text);
  }
});

test("a list repeats its name", () => {
  expect(stringifySearch({ tag: ["a=b", "c=d&e"] })).toBe("?tag=a%3Db&tag=c%3Dd%26e");
  expect(parseSearch("?tag=a%3Db&tag=c%3Dd%26e")).toEqual({ tag: ["a=b", "c=d&e"] });
});

test("absent values are not in the URL", () => {
  expect(stringifySearch({ app: undefined, run: null })).toBe("");
});
