import type { RunReport } from "@presage/contract";
import { shownTokens } from "../../platform/storage/answer-columns.ts";
import { type Micros, microsPerMs } from "../../platform/storage/columns.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { predictionIndex, type Run, type TokenSums } from "../run.ts";
import {
  type PredictionRow,
  readInRanges,
  selectFailedPredictions,
  selectPredictions,
  selectVerdicts,
} from "./outcomes-store.ts";
import { readDrawn } from "./samples.ts";

/** The outcome of a prediction by one evaluator. */
export const outcome = {
  none: 0,
  pass: 1,
  fail: 2,
  evaluatorFailed: 3,
  predictionFailed: 4,
  /** The evaluator does not apply to this sample, whatever the prediction. */
  notApplicable: 5,
} as const;

/** One evaluator's outcomes on a run's samples, by index. */
export interface Outcomes {
  readonly repeats: number;
  /** If samples differ in the number of repeats: the index of each sample's first repeat, and the end of all. */
  readonly starts?: Int32Array;
  /** An `outcome` for each repeat of each sample, with the repeats of a sample together. */
  readonly of: Uint8Array;
  /** The sum of the scores of a sample's repeats, and the number of repeats with a score. */
  readonly scores: Float64Array;
  readonly graded: Uint32Array;
  /** Verdicts without a score. */
  readonly ungraded: number;
  /** 1 if a repeat has a score that is not its verdict, 0 or 1. */
  readonly apart: Uint8Array;
  /** The verdict on the state before the action; NaN without one. */
  readonly unchangedScore: Float64Array;
  readonly unchangedPass: Uint8Array;
  /** How many evaluations have no verdict, by their status. */
  readonly failures: Readonly<Record<string, number>>;
}

/** Marks, among failed predictions, those that a pilot does not make. */
const notDrawn = 2;

type PredictedRun = Pick<Run, "id" | "repeats" | "dataset" | "provenance">;

async function noneFailed(reader: Database, run: PredictedRun, samples: number): Promise<Uint8Array> {
  const { repeats } = run;
  const drawn = await readDrawn(reader, run);
  const failed = new Uint8Array(samples * repeats);
  return drawn === undefined
    ? failed
    : failed.map((_, at) => (drawn[Math.floor(at / repeats)] === 1 ? 0 : notDrawn));
}

/** For each repeat of each sample, whether the prediction failed: 1 if it did. */
export async function readFailedPredictions(
  reader: Database,
  run: PredictedRun,
  samples: number,
): Promise<Uint8Array> {
  const { id, repeats } = run;
  const failed = await noneFailed(reader, run, samples);
  const read = readInRanges(samples, repeats, (range) => selectFailedPredictions(reader, id, range));
  for await (const rows of read) {
    for (const row of rows) failed[predictionIndex(row, repeats)] = 1;
  }
  return failed;
}

/** The outcomes of the evaluator at this index of the run's list. Outcomes that a finished run lacks count as failed. */
export async function readOutcomes(
  reader: Database,
  { id, repeats, status, mode }: Pick<Run, "id" | "repeats" | "status" | "mode">,
  evaluator: number,
  failedPredictions: Uint8Array,
): Promise<Outcomes> {
  const samples = failedPredictions.length / repeats;
  const of = new Uint8Array(failedPredictions.length);
  const scores = new Float64Array(samples);
  const graded = new Uint32Array(samples);
  const apart = new Uint8Array(samples);
  let ungraded = 0;
  const unchangedScore = new Float64Array(samples).fill(Number.NaN);
  const unchangedPass = new Uint8Array(samples);
  const failures: Record<string, number> = {};
  const read = readInRanges(samples, repeats, (range) => selectVerdicts(reader, id, evaluator, range));
  for await (const rows of read) {
    for (const row of rows) {
      const index = row.position - 1;
      const repeatIndex = predictionIndex(row, repeats);
      if (row.status === "success" && row.pass !== null) {
        of[repeatIndex] = row.pass === 1 ? outcome.pass : outcome.fail;
        if (row.score !== null) {
          scores[index] = (scores[index] ?? 0) + row.score;
          graded[index] = (graded[index] ?? 0) + 1;
          if (row.score !== row.pass) apart[index] = 1;
        } else ungraded += 1;
      } else if (row.status === "not_applicable") of[repeatIndex] = outcome.notApplicable;
      else {
        of[repeatIndex] = outcome.evaluatorFailed;
        failures[row.status] = (failures[row.status] ?? 0) + 1;
      }
      // A free-running model is not told the recorded state, so leaving it unchanged is no baseline.
      if (mode === "free-running") continue;
      if (row.unchanged_pass !== null && row.unchanged_score !== null) {
        unchangedScore[index] = row.unchanged_score;
        unchangedPass[index] = row.unchanged_pass;
      }
    }
  }
  const isFinished = status === "finished";
  for (let index = 0; index < of.length; index++) {
    if (of[index] !== outcome.none || failedPredictions[index] === notDrawn) continue;
    if (isFinished || failedPredictions[index] === 1) of[index] = outcome.predictionFailed;
  }
  return { repeats, of, scores, graded, ungraded, apart, unchangedScore, unchangedPass, failures };
}

/** A sample's outcomes, counted over its repeats. */
export interface Tally {
  judged: number;
  passed: number;
  failed: number;
  notApplicable: number;
}

export function createTally(): Tally {
  return { judged: 0, passed: 0, failed: 0, notApplicable: 0 };
}

/** Writes into `tally` rather than allocate, because it is called for each of a million samples. */
export function countRepeats({ repeats, starts, of }: Outcomes, index: number, tally: Tally): void {
  tally.judged = 0;
  tally.passed = 0;
  tally.failed = 0;
  tally.notApplicable = 0;
  const end = starts?.[index + 1] ?? (index + 1) * repeats;
  for (let at = starts?.[index] ?? index * repeats; at < end; at++) {
    const one = of[at];
    if (one === outcome.pass) {
      tally.judged += 1;
      tally.passed += 1;
    } else if (one === outcome.fail) tally.judged += 1;
    else if (one === outcome.notApplicable) tally.notApplicable += 1;
    else if (one !== outcome.none) tally.failed += 1;
  }
}

/** What a report says about a run's predictions, independent of evaluators. */
export interface PredictionTotals {
  /** The number of predictions that were requested. */
  asked: number;
  /** When the last of them was stored. */
  lastAt: Micros | undefined;
  failures: Record<string, number>;
  tokens: RunReport["tokens"];
  /** By the model name that was sent; null if it is unknown. */
  tokensByModel: ReadonlyMap<string | null, TokenSums>;
  latencyMs: RunReport["latency_ms"];
  /** Answers, and those that the token limit cut off. */
  answers: number;
  truncated: number;
  /** In the form of `readFailedPredictions`. */
  failed: Uint8Array;
}

/** Categories of predictions without a call to a model: not uploaded, or after the end of a free-running trajectory. */
const isNotAsked: ReadonlySet<string | null> = new Set(["missing", "not_reached"]);

export async function totalPredictions(
  reader: Database,
  run: PredictedRun,
  samples: number,
): Promise<PredictionTotals> {
  const { id, repeats } = run;
  const failed = await noneFailed(reader, run, samples);
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
        failed[predictionIndex(row, repeats)] = 1;
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

/** Percentiles of sorted latencies: the smallest one that at least this share of them does not exceed. */
function percentiles(sorted: Float64Array): RunReport["latency_ms"] {
  if (sorted.length === 0) return null;
  const at = (share: number): Micros => sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
  return { p50: at(0.5) / microsPerMs, p95: at(0.95) / microsPerMs, p99: at(0.99) / microsPerMs };
}
