import type { UsageFailure, UsageOperation } from "@presage/contract";
import type { Asker } from "../storage/reader.ts";
import type { Store } from "../storage/store.ts";
import type { UsagePeriod } from "./usage-period.ts";
import { type NamedKey, selectCounts, selectNamedKeys } from "./usage-store.ts";

/** What was asked for with one key, or with sessions, in one step. */
export interface UsageOfStep {
  startHour: number;
  /** Undefined: with sessions. */
  keyId: string | undefined;
  operation: UsageOperation;
  requests: number;
  failures: Partial<Record<UsageFailure, number>>;
  promptTokens: number;
  completionTokens: number;
}

export interface UsageReport {
  /** Oldest first. */
  steps: UsageOfStep[];
  /** The keys that the steps name. */
  keys: NamedKey[];
}

/** So many are an answer of about 10 MB, and hold other calls up for a tenth of a second. */
const mostRows = 100_000;

/** What an account asked for, of one key where one is named; undefined where it is too much for one answer. */
export async function readUsage(
  store: Store,
  asker: Asker,
  period: UsagePeriod,
  keyId: string | undefined,
): Promise<UsageReport | undefined> {
  const { accountId } = asker;
  const reader = store.reader(asker);
  const rows = await selectCounts(reader, accountId, period, keyId, mostRows + 1);
  if (rows.length > mostRows) return undefined;
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
    if (row.outcome !== "") step.failures[row.outcome] = row.requests;
  }
  const keyIds = new Set(steps.flatMap((step) => step.keyId ?? []));
  return { steps, keys: await selectNamedKeys(reader, accountId, [...keyIds]) };
}

function emptyStep(startHour: number, keyId: string | undefined, operation: UsageOperation): UsageOfStep {
  return { startHour, keyId, operation, requests: 0, failures: {}, promptTokens: 0, completionTokens: 0 };
}
