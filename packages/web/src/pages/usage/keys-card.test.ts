import { expect, test } from "bun:test";
import type { UsageKey, UsageRow } from "@presage/sdk";
import { rankKeys } from "./keys-card.tsx";

const key: UsageKey = { id: "k1", name: "Training", prefix: "psg_aaaa", last_four: "zzzz", revoked_at: null };

function row(given: Partial<UsageRow>): UsageRow {
  return {
    start: "2026-03-01T00:00:00Z",
    api_key_id: "k1",
    operation: "predict",
    requests: 1,
    failures: {},
    prompt_tokens: 0,
    completion_tokens: 0,
    cached_tokens: 0,
    cost: null,
    unpriced_tokens: 0,
    ...given,
  };
}

test("usage is added up by key, most requests first", () => {
  const rows = [
    row({ api_key_id: null, requests: 3 }),
    row({ requests: 4, failures: { timeout: 1, invalid: 1 }, prompt_tokens: 10 }),
    row({ operation: "chat", requests: 5, prompt_tokens: 1, completion_tokens: 7 }),
  ];
  expect(rankKeys(rows, [key])).toMatchObject([
    { name: "Training", requests: 9, failed: 2, promptTokens: 11, completionTokens: 7 },
    { name: "Dashboard", keyId: null, requests: 3, failed: 0 },
  ]);
});

test("usage of a deleted key still counts", () => {
  expect(rankKeys([row({})], [])).toMatchObject([{ name: "Deleted key", requests: 1 }]);
});
