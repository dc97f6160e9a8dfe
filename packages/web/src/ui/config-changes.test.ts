import { expect, test } from "bun:test";
import { configChanges } from "./config-changes.tsx";

test("equal settings are left out, whatever the order of their keys", () => {
  const before = { threshold: 0.5, schema: { type: "object", required: ["a"] } };
  const after = { schema: { required: ["a"], type: "object" }, threshold: 0.5 };
  expect(configChanges(before, after)).toEqual([]);
});

test("changed, added and removed settings are listed with both values", () => {
  const before = { threshold: 0.5, trim: false };
  const after = { threshold: 0.9, kinds: ["email"] };
  expect(configChanges(before, after)).toEqual([
    { name: "threshold", before: 0.5, after: 0.9 },
    { name: "trim", before: false, after: undefined },
    { name: "kinds", before: undefined, after: ["email"] },
  ]);
});
