import { expect, test } from "bun:test";
import { findEntries, kindOfId, type PaletteEntry } from "./palette-entries.ts";

const entry = (group: string, title: string, hint?: string, isOnDemand = false): PaletteEntry => ({
  id: `${group} ${title}`,
  group,
  title,
  hint,
  isOnDemand,
  action: "/",
});
const entries = [
  entry("Page", "Runs"),
  entry("Page", "Evaluations"),
  entry("Action", "New run"),
  entry("Run", "nightly run", "finished"),
  entry("Run", "run of today", "running"),
  entry("Reference", "Report on a run", "GET /v1/runs/{id}/report", true),
];
const titles = (query: string) => findEntries(entries, query).map(({ title }) => title);

test("all words must be there, in the title or beside it, but those of a question; else half of them", () => {
  expect(titles("nightly fin")).toEqual(["nightly run"]);
  expect(titles("how do I report on a run")).toEqual(["Report on a run"]);
  expect(titles("nightly evaluations")).toEqual(["Evaluations", "nightly run"]);
  expect(titles("nightly sandbox verdicts")).toEqual([]);
});

test("the best match comes first, whatever it is", () => {
  expect(titles("run")).toEqual(["Runs", "run of today", "New run", "nightly run", "Report on a run"]);
  expect(titles("new")).toEqual(["New run"]);
  expect(titles("run rep")).toEqual(["Report on a run"]);
  expect(titles("/v1/runs")).toEqual(["Report on a run"]);
});

test("without a query actions are listed, a few of each other kind but the reference, then pages", () => {
  const many = Array.from({ length: 9 }, (_, index) => entry("Run", `run ${index}`));
  expect(titles("")).not.toContain("Report on a run");
  expect(findEntries([...entries, ...many], "").map(({ group }) => group)).toEqual([
    "Action",
    "Run",
    "Run",
    "Run",
    "Run",
    "Page",
    "Page",
  ]);
});

test("an id tells what it may be of", () => {
  expect(kindOfId(" 42 ")).toBe("result");
  expect(kindOfId("01a2015d-17ca-76a5-aa4f-c26a65d9cd6e")).toBe("uuid");
  expect(kindOfId("nightly")).toBeUndefined();
});
