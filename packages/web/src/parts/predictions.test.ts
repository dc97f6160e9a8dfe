import { expect, test } from "bun:test";
import { readPredictionsSearch, toPredictionFilter } from "./predictions.ts";

test("Invalid values of the address are ignored", () => {
  expect(
    readPredictionsSearch({ source: "x", status: ["failed"], model: "\0", period: "1y", key: 7, open: "id" }),
  ).toEqual({ key: "7", open: "id" });
});

test("A filter has what the address says, and the period as a time", () => {
  const search = readPredictionsSearch({ source: "live", request: "r", period: "24h", open: "id" });
  expect(toPredictionFilter(search, Date.parse("2026-11-22T10:00:31Z"))).toEqual({
    source: "live",
    request_id: "r",
    from: "2026-11-21T10:00:00.000Z",
  });
});
