import { expect, test } from "bun:test";
import { findEntries, kindOfId, type PaletteEntry } from "./palette-entries.ts";

const entry = (group: string, title: string, hint?: string): PaletteEntry => ({
  id: `${group} ${title}`,
  group,
  title,
  hint,
  action: "/",
});
const entries = [
  entry("Pages", "Runs"),
  entry("Pages", "Evaluations"),
  entry("Runs", "nightly run", "finished"),
  entry("Runs", "run of today", "running"),
];
const titles = (query: string) => findEntries(entries, query).map(({ title }) => title);

test("all words must be there, in the title or beside it", () => {
  expect(titles("nightly fin")).toEqual(["nightly run"]);
  expect(titles("nightly evaluations")).toEqual([]);
});

test("what begins with the query comes first, and groups stay together", () => {
  expect(titles("run")).toEqual(["Runs", "run of today", "nightly run"]);
});

test("without a query everything is listed, a few of each group", () => {
  const many = Array.from({ length: 9 }, (_, index) => entry("Runs", `run ${index}`));
  expect(findEntries(many, "")).toHaveLength(6);
});

test("an id tells what it may be of", () => {
  expect(kindOfId(" 42 ")).toBe("result");
  expect(kindOfId("01a2015d-17ca-76a5-aa4f-c26a65d9cd6e")).toBe("uuid");
  expect(kindOfId("nightly")).toBeUndefined();
});
