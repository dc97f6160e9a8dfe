import { expect, test } from "bun:test";
import { ordinaryRecord } from "../evaluation-record.fixture.ts";
import { toRecords, toText } from "./write-results.ts";

test("records are the same on the other side", () => {
  const other = { ...ordinaryRecord, sample: { output: "日本語 \u0000 😀" }, metadata: { app: "other" } };
  const records = [ordinaryRecord, other, { ...ordinaryRecord, evaluatorId: "another" }];
  expect(toRecords(toText(records))).toEqual(records);
});

test("samples with the same system prompt have it written once", () => {
  const records = ["a", "b", "c"].map((output) => ({
    ...ordinaryRecord,
    sample: { systemPrompt: "x".repeat(10_000), output },
  }));
  expect(toText(records).length).toBeLessThan(12_000);
  expect(toRecords(toText(records))).toEqual(records);
});

test("the texts of a sample are written once for all its evaluators", () => {
  const sample = { systemPrompt: "x".repeat(10_000), output: "out" };
  const records = ["a", "b", "c"].map((evaluatorId) => ({ ...ordinaryRecord, evaluatorId, sample }));
  expect(toText(records).length).toBeLessThan(12_000);
});
