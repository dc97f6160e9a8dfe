import { expect, test } from "bun:test";
import { writeCsv } from "../save-file.ts";
import { compareValues, writeMarkdown, writeTabSeparated } from "./columns.ts";

test("numbers are compared by size and texts as people count", () => {
  expect([10, 9, -1].sort(compareValues)).toEqual([-1, 9, 10]);
  expect(["run 10", "Run 2", "run 1"].sort(compareValues)).toEqual(["run 1", "Run 2", "run 10"]);
  expect([true, false].sort(compareValues)).toEqual([false, true]);
});

interface Row {
  name: string;
  rate: number | null;
}

const columns = [
  { label: "Name", value: ({ name }: Row) => name },
  { label: "Rate", value: ({ rate }: Row) => rate, isNumber: true },
];

test("a table is copied for a spreadsheet, a line for each row", () => {
  const rows = [
    { name: "two\tlines\nof text", rate: -0.25 },
    { name: "none", rate: null },
  ];
  expect(writeTabSeparated({ columns, rows })).toBe("Name\tRate\ntwo lines of text\t-0.25\nnone\t");
});

test("a text that a spreadsheet would run is marked as a text", () => {
  const rows = [{ name: '=HYPERLINK("http://example.com")', rate: 1 }];
  expect(writeTabSeparated({ columns, rows })).toEndWith(`'=HYPERLINK("http://example.com")\t1`);
});

test("a table is saved as CSV: negative numbers stay numbers, texts are quoted, and none is a formula", () => {
  const records = [
    ["Name", "Rate"],
    ['two\nlines, "quoted"', "-0.25"],
    ["=1+1", ""],
  ];
  expect(writeCsv(records)).toBe('Name,Rate\r\n"two lines, ""quoted""",-0.25\r\n\'=1+1,\r\n');
});

test("a table is copied as Markdown, and texts stay texts", () => {
  const rows = [{ name: "a|b <b>`x`</b>\nnext", rate: 0.5 }];
  expect(writeMarkdown({ columns, rows })).toBe(
    ["| Name | Rate |", "| :-- | --: |", "| a&#124;b &#60;b&#62;&#96;x&#96;&#60;/b&#62; next | 0.5 |"].join(
      "\n",
    ),
  );
});

test("a bound stays readable in Markdown", () => {
  expect(writeMarkdown({ columns, rows: [{ name: "< 0.001 <", rate: 1 }] })).toEndWith(
    "| < 0.001 &#60; | 1 |",
  );
});
