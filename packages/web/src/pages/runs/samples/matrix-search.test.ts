import { expect, test } from "bun:test";
import { parseSearch, stringifySearch } from "../../../search-params.ts";
import { type MatrixSearch, readMatrixSearch } from "./matrix-search.ts";

test("all parameters round-trip through the URL", () => {
  const whole: Required<MatrixSearch> = {
    judge: 1,
    verdict: "fail",
    recorded: "unchanged",
    failed: true,
    trajectory: "404",
    at: 3,
    sample: "true",
    repeat: 2,
    sort: "-e1",
    columns: "e0,e1",
  };
  expect(readMatrixSearch(parseSearch(stringifySearch({ ...whole })))).toEqual(whole);
});

test("invalid values are ignored", () => {
  const search = {
    judge: -1,
    verdict: "maybe",
    recorded: "x",
    failed: false,
    trajectory: "a\0",
    at: 1.5,
    sample: "",
    repeat: 0,
    sort: "a b",
  };
  expect(readMatrixSearch(search)).toEqual({});
});
