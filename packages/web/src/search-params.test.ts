import { expect, test } from "bun:test";
import { parseSearch, stringifySearch } from "./search-params.ts";

test("texts stand in the address as they are, also those that look like numbers or JSON", () => {
  const search = { result: "123", app: "true", run: '{"a":1}' };
  expect(stringifySearch({ result: "123", app: "true" })).toBe("?result=123&app=true");
  expect(parseSearch(stringifySearch(search))).toEqual(search);
});

test("a list is its name once for each text", () => {
  expect(stringifySearch({ tag: ["a=b", "c=d&e"] })).toBe("?tag=a%3Db&tag=c%3Dd%26e");
  expect(parseSearch("?tag=a%3Db&tag=c%3Dd%26e")).toEqual({ tag: ["a=b", "c=d&e"] });
});

test("what is absent is not in the address", () => {
  expect(stringifySearch({ app: undefined, run: null, min_score: 0.5 })).toBe("?min_score=0.5");
  expect(stringifySearch({})).toBe("");
});
