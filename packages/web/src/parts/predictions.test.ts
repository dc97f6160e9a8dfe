import { expect, test } from "bun:test";
import type { RunReport } from "@presage/sdk";
import { costOf1000, readPredictionsSearch, toPredictionFilter } from "./predictions.ts";

test("Invalid values of the address are ignored", () => {
  expect(
    readPredictionsSearch({ source: "x", status: ["failed"], model: "\0", period: "1y", key: 7, open: "id" }),
  ).toEqual({ key: "7", open: "id" });
});

test("1,000 predictions cost what was spent, by those that a model was asked for", () => {
  const report = (unpriced_tokens: number) =>
    ({
      run: { progress: { predicted: 6 } },
      failures: { predictions: { timeout: 2, not_reached: 4, missing: 1 } },
      cost: { currency: "USD", total: 4, unpriced_tokens, models: [] },
    }) as unknown as RunReport;
  expect(costOf1000(report(0))).toBe(500);
  expect(costOf1000(report(1))).toBeUndefined();
});

test("A filter has what the address says, and the period as a time", () => {
  const search = readPredictionsSearch({ source: "live", request: "r", period: "24h", open: "id" });
  expect(toPredictionFilter(search, Date.parse("2026-11-22T10:00:31Z"))).toEqual({
    source: "live",
    request_id: "r",
    from: "2026-11-21T10:00:00.000Z",
  });
});
