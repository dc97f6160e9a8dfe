import type { LatencyResponse, UsageResponse, UsageRow } from "@presage/contract";
import { costOf, type Prices, withoutNoise } from "../platform/prices.ts";
import { shownTokens } from "../platform/storage/answer-columns.ts";
import { toIsoInstant } from "../platform/storage/columns.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import { addToBucket, type LatencyCounts, noLatencies, toLatency } from "./latency.ts";
import { toIsoHour, type UsagePeriod } from "./usage-period.ts";
import {
  type CountsOfStep,
  type ModelTokens,
  selectCounts,
  selectLatencies,
  selectModelTokens,
  selectNamedKeys,
} from "./usage-store.ts";

/** Latencies of an account's predictions. Steps without any are left out. */
export async function readLatency(
  store: Store,
  requester: Requester,
  period: UsagePeriod,
): Promise<Pick<LatencyResponse, "overall" | "data">> {
  const rows = await selectLatencies(store.reader(requester), requester.accountId, period);
  const overall = noLatencies();
  const steps = new Map<number, LatencyCounts>();
  for (const { start_hour, measure, bucket, count } of rows) {
    const step = steps.get(start_hour) ?? noLatencies();
    steps.set(start_hour, step);
    for (const latencies of [overall, step]) addToBucket(latencies[measure], bucket, count);
  }
  const data = Array.from(steps, ([startHour, step]) => ({
    start: toIsoHour(startHour),
    ...toLatency(step),
  }));
  return { overall: toLatency(overall), data };
}

/** This many make a response of about 10 MB and block other requests for a tenth of a second. */
const maxRows = 100_000;

/** An account's usage, or one key's; undefined if there are too many rows for one response. */
export async function readUsage(
  store: Store,
  requester: Requester,
  period: UsagePeriod,
  keyId: string | undefined,
  prices: Prices | undefined,
): Promise<Pick<UsageResponse, "data" | "api_keys"> | undefined> {
  const { accountId } = requester;
  const reader = store.reader(requester);
  const counts = await selectCounts(reader, accountId, period, keyId, maxRows + 1);
  if (counts.length > maxRows) return undefined;
  const byModel =
    prices === undefined
      ? []
      : await selectModelTokens(reader, accountId, period, keyId, [...prices.models.keys()], maxRows + 1);
  if (byModel.length > maxRows) return undefined;
  const tokensOf = Map.groupBy(byModel, stepOf);
  const data: UsageRow[] = [];
  for (const [step, rows] of Map.groupBy(counts, stepOf)) {
    const [first] = rows;
    if (first !== undefined) data.push(toUsageRow(first, rows, tokensOf.get(step) ?? [], prices));
  }
  const keyIds = new Set(counts.map(({ key_id }) => key_id));
  // Requests with sessions.
  keyIds.delete("");
  const keys = await selectNamedKeys(reader, accountId, [...keyIds]);
  return {
    data,
    api_keys: keys.map(({ revoked_at, ...key }) => ({
      ...key,
      revoked_at: revoked_at === null ? null : toIsoInstant(revoked_at),
    })),
  };
}

/** What belongs to one row of the response: a step, a key and an operation. */
function stepOf({ start_hour, key_id, operation }: CountsOfStep | ModelTokens): string {
  return `${start_hour} ${key_id} ${operation}`;
}

/** What became of the requests of one step with one key, or with sessions, as one row. */
function toUsageRow(
  { start_hour, key_id, operation }: CountsOfStep,
  rows: readonly CountsOfStep[],
  byModel: readonly ModelTokens[],
  prices: Prices | undefined,
): UsageRow {
  const sum = (column: "requests" | "prompt_tokens" | "completion_tokens" | "cached_tokens") =>
    rows.reduce((total, row) => total + row[column], 0);
  const tokens = {
    prompt_tokens: sum("prompt_tokens"),
    completion_tokens: sum("completion_tokens"),
    cached_tokens: sum("cached_tokens"),
  };
  const failures = rows.flatMap(({ outcome, requests }) => (outcome === "" ? [] : [[outcome, requests]]));
  const isAnswered = operation !== "evaluate" && rows.some(({ outcome }) => outcome === "");
  return {
    start: toIsoHour(start_hour),
    api_key_id: key_id === "" ? null : key_id,
    operation,
    requests: sum("requests"),
    failures: Object.fromEntries(failures),
    ...shownTokens(tokens, isAnswered),
    ...costOfTokens(tokens.prompt_tokens + tokens.completion_tokens, byModel, prices),
  };
}

/** What tokens cost: those of models with a price, in the currency of the list. */
function costOfTokens(
  asked: number,
  byModel: readonly ModelTokens[],
  prices: Prices | undefined,
): Pick<UsageRow, "cost" | "unpriced_tokens"> {
  if (prices === undefined) return { cost: null, unpriced_tokens: 0 };
  let pricedTokens = 0;
  let cost = 0;
  for (const row of byModel) {
    pricedTokens += row.prompt_tokens + row.completion_tokens;
    cost +=
      costOf(prices, row.model, {
        promptTokens: row.prompt_tokens,
        completionTokens: row.completion_tokens,
        upstreamCachedTokens: row.upstream_cached_tokens,
      }) ?? 0;
  }
  return {
    cost: pricedTokens > 0 || asked === 0 ? withoutNoise(cost) : null,
    // Tokens by model are read after the counts, so they may be a little ahead.
    unpriced_tokens: Math.max(0, asked - pricedTokens),
  };
}
