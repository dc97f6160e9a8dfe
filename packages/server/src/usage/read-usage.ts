import type { UsageFailure, UsageOperation } from "@presage/contract";
import type { Requester } from "../storage/reader.ts";
import type { Store } from "../storage/store.ts";
import { type NamedKey, selectCounts, selectNamedKeys, type UsagePeriod } from "./usage-store.ts";

/** Requests of one step and operation with one key, or with sessions. */
export interface UsageOfStep {
  startHour: number;
  /** Undefined: with sessions. */
  keyId: string | undefined;
  operation: UsageOperation;
  requests: number;
  failures: Partial<Record<UsageFailure, number>>;
  promptTokens: number;
  completionTokens: number;
  cachedTokens: number;
}

export interface UsageReport {
  /** Oldest first. */
  steps: UsageOfStep[];
  /** The keys that appear in the steps. */
  keys: NamedKey[];
}

/** This many make a response of about 10 MB and block other requests for a tenth of a second. */
const maxRows = 100_000;

/** An account's usage, or one key's; undefined if there are too many rows for one response. */
export async function readUsage(
  store: Store,
  requester: Requester,
  period: UsagePeriod,
  keyId: string | undefined,
): Promise<UsageReport | undefined> {
  const { accountId } = requester;
  const reader = store.reader(requester);
  const rows = await selectCounts(reader, accountId, period, keyId, maxRows + 1);
  if (rows.length > maxRows) return undefined;
  const steps: UsageOfStep[] = [];
  for (const row of rows) {
    const rowKeyId = row.key_id === "" ? undefined : row.key_id;
    const last = steps.at(-1);
    const continuesLast =
      last?.startHour === row.start_hour && last.keyId === rowKeyId && last.operation === row.operation;
    const step = continuesLast ? last : emptyStep(row.start_hour, rowKeyId, row.operation);
    if (!continuesLast) steps.push(step);
    step.requests += row.requests;
    step.promptTokens += row.prompt_tokens;
    step.completionTokens += row.completion_tokens;
    step.cachedTokens += row.cached_tokens;
    if (row.outcome !== "") step.failures[row.outcome] = row.requests;
  }
  const keyIds = new Set(steps.flatMap((step) => step.keyId ?? []));
  return { steps, keys: await selectNamedKeys(reader, accountId, [...keyIds]) };
}

function emptyStep(startHour: number, keyId: string | undefined, operation: UsageOperation): UsageOfStep {
  const tokens = { promptTokens: 0, completionTokens: 0, cachedTokens: 0 };
  return { startHour, keyId, operation, requests: 0, failures: {}, ...tokens };
}
