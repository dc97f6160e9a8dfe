import { expect, test } from "bun:test";
import { writeTabSeparated } from "../data-table/columns.ts";
import { copiedTable } from "./figures-table.tsx";

test("numbers are copied as they are, and a name is no formula", () => {
  const rows = [
    { name: "look", cells: [-0.125, null] },
    { name: "=1+1", cells: [1, "3 samples"] },
  ];
  expect(writeTabSeparated(copiedTable({ header: ["Verb", "Difference", "Of"], rows }))).toBe(
    "Verb\tDifference\tOf\nlook\t-0.125\t\n'=1+1\t1\t3 samples",
  );
});
