import { expect, test } from "bun:test";
import { type Column, textTable } from "./terminal.ts";

interface Key {
  id: string;
  name: string;
  uses: number;
}

const columns: Column<Key>[] = [
  { heading: "ID", text: ({ id }) => id },
  { heading: "NAME", text: ({ name }) => name, canWrap: true },
  { heading: "USES", text: ({ uses }) => String(uses), align: "right" },
];
const keys: Key[] = [
  { id: "k1", name: "training", uses: 7 },
  { id: "k2", name: "the nightly run", uses: 12_000 },
];

test("columns are aligned under their headings, numbers to the right", () => {
  expect(textTable(columns, keys)).toEqual({
    text: ["ID  NAME              USES", "k1  training             7", "k2  the nightly run  12000"].join(
      "\n",
    ),
    leftOut: [],
  });
});

test("where the width is too small, long texts are wrapped and nothing is lost", () => {
  const { text, leftOut } = textTable(columns, keys, 21);
  expect(text.split("\n").filter((line) => line.length > 21)).toEqual([]);
  expect(text.replaceAll(/\s/g, "")).toContain("12000");
  expect(text).toContain("k2  the         12000\n    nightly\n    run");
  expect(leftOut).toEqual([]);
});

test("names are not broken: what has no room beside them is left out", () => {
  const named: Key[] = [{ id: "k4", name: "exact-match nightly-strict", uses: 5 }];
  const { text, leftOut } = textTable(columns, named, 24);
  expect(text.split("\n").slice(1)).toEqual(["k4  exact-match        5", "    nightly-strict"]);
  expect(leftOut).toEqual([]);
  expect(textTable(columns, named, 20).leftOut).toEqual(["USES"]);
});

test("columns without room are left out from the end, and named", () => {
  expect(textTable(columns, keys, 13)).toMatchObject({ leftOut: ["USES"] });
  expect(textTable(columns, keys, 1)).toMatchObject({ leftOut: ["NAME", "USES"] });
});

test("a table without rows has its headings", () => {
  expect(textTable(columns, []).text).toBe("ID  NAME  USES");
});

test("wide characters take two columns", () => {
  const { text } = textTable(columns, [{ id: "k3", name: "訓練", uses: 1 }]);
  expect(text).toBe("ID  NAME  USES\nk3  訓練     1");
});
