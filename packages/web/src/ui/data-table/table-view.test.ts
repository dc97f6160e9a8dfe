import { expect, test } from "bun:test";
import { parseSort, readTableSearch, writeSort } from "./table-view.ts";

test("sort and columns are read from the address, and nothing else", () => {
  expect(readTableSearch({ sort: "-created_at", columns: "name,state", other: "x" })).toEqual({
    sort: "-created_at",
    columns: "name,state",
  });
  expect(readTableSearch({ sort: ["a"], columns: 7 })).toEqual({});
  // A saved view states the defaults with "-", so that nothing remembered takes their place.
  expect(readTableSearch({ sort: "-", columns: "-" })).toEqual({ sort: "-", columns: "-" });
  expect(readTableSearch({ sort: "a b", columns: ",name" })).toEqual({});
});

test("a sort is written as it is read", () => {
  for (const text of ["name", "-name"]) {
    const sort = parseSort(text);
    expect(sort && writeSort(sort)).toBe(text);
  }
  expect(parseSort(undefined)).toBeUndefined();
});
