import type { RunReport } from "@presage/contract";
import { shownTokens } from "../../platform/storage/answer-columns.ts";
import { type Micros, microsPerMs } from "../../platform/storage/micros.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { Run } from "../run.ts";
import { type PredictionRow, selectPredictions } from "./outcomes-store.ts";
import { readInRanges } from "./read-in-ranges.ts";

type TokenSums = { [Kind in keyof RunReport["tokens"]]: number };

/** What a report says of a run's predictions, whatever they were evaluated by. */
export interface PredictionTotals {
  /** Those that were requested. */
  asked: number;
  /** When the last of them was kept. */
  lastAt: Micros | undefined;
  failures: Record<string, number>;
  tokens: RunReport["tokens"];
  /** By the name that was sent; null where it is not known. */
  tokensByModel: ReadonlyMap<string | null, TokenSums>;
  latencyMs: RunReport["latency_ms"];
  /** Answers, and those that the token limit cut off. */
  answers: number;
  truncated: number;
  /** For each repeat of each sample: 1 where the prediction failed. */
  failed: Uint8Array;
}

/** Of predictions without a call to a model: not uploaded, or after the end of a free-running trajectory. */
const isNotAsked: ReadonlySet<string | null> = new Set(["missing", "not_reached"]);

export async function totalPredictions(
  reader: Database,
  { id, repeats }: Pick<Run, "id" | "repeats">,
  samples: number,
): Promise<PredictionTotals> {
  const failed = new Uint8Array(samples * repeats);
  const latencies = new Float64Array(samples * repeats);
  const failures: Record<string, number> = {};
  const sums: TokenSums = { prompt: 0, cached: 0, completion: 0 };
  const tokensByModel = new Map<string | null, TokenSums>();
  let [asked, answers, truncated] = [0, 0, 0];
  let lastAt: Micros | undefined;
  let timed = 0;
  const read = readInRanges(samples, repeats, (range) => selectPredictions(reader, id, range));
  for await (const rows of read) {
    for (const row of rows) {
      if (!isNotAsked.has(row.error_category)) {
        asked += 1;
        lastAt = Math.max(lastAt ?? 0, row.created_at);
      }
      if (row.status === "success") answers += 1;
      if (row.finish_reason === "length") truncated += 1;
      addTokens(sums, row);
      if (row.prompt_tokens + row.completion_tokens > 0) {
        const ofModel = tokensByModel.get(row.sent_model) ?? { prompt: 0, cached: 0, completion: 0 };
        tokensByModel.set(row.sent_model, ofModel);
        addTokens(ofModel, row);
      }
      if (row.status === "failed") {
        const category = row.error_category ?? "other";
        failures[category] = (failures[category] ?? 0) + 1;
        failed[(row.position - 1) * repeats + row.repeat] = 1;
      } else if (row.latency_micros !== null) {
        latencies[timed] = row.latency_micros;
        timed += 1;
      }
    }
  }
  const tokens = shownTokens(sums, timed > 0);
  const latencyMs = percentiles(latencies.subarray(0, timed).sort());
  return { asked, answers, truncated, lastAt, failures, tokens, tokensByModel, latencyMs, failed };
}

function addTokens(tokens: TokenSums, row: PredictionRow): void {
  tokens.prompt += row.prompt_tokens;
  tokens.cached += row.cached_tokens;
  tokens.completion += row.completion_tokens;
}

/** Of sorted latencies: the smallest one that the share does not exceed. */
function percentiles(sorted: Float64Array): RunReport["latency_ms"] {
  if (sorted.length === 0) return null;
  const at = (share: number): Micros => sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
  return { p50: at(0.5) / microsPerMs, p95: at(0.95) / microsPerMs, p99: at(0.99) / microsPerMs };
}
