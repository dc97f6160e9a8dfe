import { expect, test } from "bun:test";
import { splitVersion } from "./split-version.ts";

test("a version is the date at the end of an evaluator's id", () => {
  expect(splitVersion("exact-match-2026-11-21")).toEqual({ family: "exact-match-", version: "2026-11-21" });
  expect(splitVersion("external:theirs")).toEqual({ family: "external:theirs", version: "" });
});
