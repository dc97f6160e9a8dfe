import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readChangelog } from "./changelog.tsx";

test("versions have parts, and an item may have several lines", () => {
  const text =
    "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- One\n  and more.\n- Two\n\n## [0.1.0] - 2026-11-22\n";
  expect(readChangelog(text)).toEqual([
    { name: "Unreleased", date: undefined, parts: [{ title: "Added", items: ["One and more.", "Two"] }] },
    { name: "0.1.0", date: "2026-11-22", parts: [] },
  ]);
});

test("this repository's changelog can be read", () => {
  const versions = readChangelog(readFileSync(join(import.meta.dir, "../../../../CHANGELOG.md"), "utf8"));
  const first = versions.find(({ name }) => name === "0.1.0");
  expect(first?.parts.flatMap(({ items }) => items).length).toBeGreaterThan(10);
});
