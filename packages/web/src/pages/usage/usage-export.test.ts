import { expect, test } from "bun:test";
import type { UsageResponse } from "@presage/sdk";
import { writeCsv } from "../../ui/save-file.ts";
import { usageRecords } from "./usage-export.ts";

const usage: UsageResponse = {
  since: "2026-03-01T00:00:00Z",
  until: "2026-03-02T10:00:00Z",
  step: "day",
  currency: null,
  data: [
    {
      start: "2026-03-01T00:00:00Z",
      api_key_id: "k1",
      operation: "predict",
      requests: 9,
      failures: { timeout: 2, other: 1 },
      prompt_tokens: 100,
      completion_tokens: 20,
      cached_tokens: 30,
      example_tokens: 0,
      cost: null,
      unpriced_tokens: 0,
    },
    {
      start: "2026-03-02T00:00:00Z",
      api_key_id: null,
      operation: "chat",
      requests: 1,
      failures: {},
      prompt_tokens: 5,
      completion_tokens: 6,
      cached_tokens: 0,
      example_tokens: 0,
      cost: null,
      unpriced_tokens: 0,
    },
  ],
  api_keys: [{ id: "k1", name: "Lab, east", prefix: "psg_aaaa", last_four: "zzzz", revoked_at: null }],
};

test("each row is a record with a column for each failure reason", () => {
  const csv = writeCsv(usageRecords(usage));
  const [head = "", ...lines] = csv.trimEnd().split("\r\n");
  expect(lines).toEqual([
    '2026-03-01T00:00:00Z,k1,"Lab, east",predict,9,3,0,0,0,0,0,2,0,0,1,100,20,30,0',
    "2026-03-02T00:00:00Z,,Dashboard,chat,1,0,0,0,0,0,0,0,0,0,0,5,6,0,0",
  ]);
  const names = head.split(",");
  expect(names.at(0)).toBe("day_utc");
  expect(names.indexOf("failed_timeout")).toBe(11);
  expect(names).toHaveLength(19);
});

test("with prices there are three more columns, and what has no cost is empty", () => {
  const [first, second] = usage.data.map((row, index) =>
    index === 0 ? { ...row, cost: 0.00125, unpriced_tokens: 4 } : { ...row, unpriced_tokens: 11 },
  );
  const data = [first, second].filter((row) => row !== undefined);
  const [head = [], ...records] = usageRecords({ ...usage, currency: "EUR", data });
  expect(head.slice(-3)).toEqual(["cost", "currency", "unpriced_tokens"]);
  expect(records.map((record) => record.slice(-3))).toEqual([
    ["0.00125", "EUR", "4"],
    ["", "EUR", "11"],
  ]);
});
