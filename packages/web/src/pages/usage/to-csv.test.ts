import { expect, test } from "bun:test";
import { toCsv } from "./to-csv.ts";

test("fields are quoted where they have to be", () => {
  expect(
    toCsv([
      ["name", "count"],
      ['a "b", c', 3],
      ["two\nlines", -1],
    ]),
  ).toBe('name,count\r\n"a ""b"", c",3\r\n"two\nlines",-1\r\n');
});

test("what a spreadsheet would run as a formula is a text", () => {
  expect(toCsv([["=1+1", "@SUM(A1)", "-2+3", "a=b"]])).toBe("'=1+1,'@SUM(A1),'-2+3,a=b\r\n");
});
