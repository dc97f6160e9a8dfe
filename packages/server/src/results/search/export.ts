import {
  EvaluationResult,
  type EvaluationSummaryGroup,
  type EvaluationSummaryResponse,
} from "@presage/contract";
import { toExternalName } from "../../evaluators/outcome.ts";
import { toIsoDay } from "../../http/response.ts";
import { type StoredResult, toCurrentResult, toEvaluationResult } from "../result.ts";
import type { Summary } from "../summary/summarise.ts";
import type { SummaryGroup } from "../summary/summary-group.ts";

export function toSummaryResponse({ source, groups }: Summary): EvaluationSummaryResponse {
  return { source, groups: groups.map(toGroup) };
}

function toGroup({ key, ...figures }: SummaryGroup): EvaluationSummaryGroup {
  return {
    key: toKey(key),
    count: figures.count,
    scored: figures.scored,
    passed: figures.passed,
    not_passed: figures.notPassed,
    not_applicable: figures.notApplicable,
    failed: figures.failed,
    interval_method: figures.intervalMethod,
    clusters: figures.clusters,
    pass_rate: figures.passRate,
    pass_rate_interval: figures.passRateInterval,
    mean_score: figures.meanScore,
    mean_score_interval: figures.meanScoreInterval,
    p10: figures.p10,
    p50: figures.p50,
    p90: figures.p90,
  };
}

/** In the store, an empty text or 0 means none; in a response, none is null. */
function toKey(key: SummaryGroup["key"]): EvaluationSummaryGroup["key"] {
  const { evaluator_id, evaluator_family, profile_name, profile_public_id, profile_revision } = key;
  return {
    // Only imported results have no family.
    evaluator_id: evaluator_id && evaluator_family === "" ? toExternalName(evaluator_id) : evaluator_id,
    evaluator_family: orNull(evaluator_family),
    profile_name: orNull(profile_name),
    evaluator_profile_public_id: orNull(profile_public_id),
    evaluator_profile_revision: orNull(profile_revision),
    app: key.app,
    tag: key.tag,
    day: key.day === undefined ? undefined : toIsoDay(key.day),
    evaluation_run_id: orNull(key.run_id),
  };
}

function orNull<Value>(value: Value | undefined): Value | null | undefined {
  return value === undefined ? undefined : value || null;
}

/** Writes results one after the other. */
export interface ExportFormat {
  contentType: string;
  head: string;
  toLines(results: readonly StoredResult[]): string;
}

const jsonl: ExportFormat = {
  contentType: "application/x-ndjson; charset=utf-8",
  head: "",
  toLines: (results) => results.map((result) => `${JSON.stringify(toEvaluationResult(result))}\n`).join(""),
};

export async function exportFormat(name: "jsonl" | "csv"): Promise<ExportFormat> {
  return name === "jsonl" ? jsonl : await csv();
}

/** Current names only: a table needs no column twice. */
const columns = Object.entries(EvaluationResult.shape)
  .filter(([, field]) => field.meta()?.deprecated !== true)
  .map(([name]) => name);

/** Most servers never write CSV: the first export loads the library. */
async function csv(): Promise<ExportFormat> {
  const { stringify } = await import("csv-stringify/sync");
  const toCsv = (records: unknown[][]) =>
    stringify(records, {
      cast: { boolean: String },
      // Spreadsheets run a text that starts like a formula, and these texts come from models and their users.
      escape_formulas: true,
    });
  return {
    contentType: "text/csv; charset=utf-8; header=present",
    head: toCsv([columns]),
    toLines: (results) =>
      toCsv(
        results.map((result) => {
          const values = new Map(Object.entries(toCurrentResult(result)));
          return columns.map((column) => values.get(column));
        }),
      ),
  };
}

/** The texts of an export, one for each piece. */
export async function* exportTexts(
  pieces: AsyncIterable<readonly StoredResult[]>,
  { head, toLines }: ExportFormat,
): AsyncGenerator<string, void> {
  let before = head;
  for await (const piece of pieces) {
    yield before + toLines(piece);
    before = "";
  }
  if (before !== "") yield before;
}
