import type { ClientEvaluation, ImportedEvaluationResult, ValidationError } from "@presage/contract";
import { parse } from "tinyduration";
import { readEvaluatorName, readSample } from "../evaluators/old-names.ts";
import { valueError } from "../http/pydantic-issues.ts";
import { InvalidRequestError } from "../http/validate.ts";
import type { Micros } from "../platform/storage/micros.ts";
import type { ImportedResult } from "./import-results.ts";
import { readResultMetadata } from "./read-result-metadata.ts";

const secondsPer = { weeks: 604_800, days: 86_400, hours: 3_600, minutes: 60, seconds: 1 } as const;
const durationUnits = "Durations are weeks, days, hours, minutes and seconds";
type Unit = keyof typeof secondsPer;

/** Reads the results of an import, a list of the body; throws every issue that their schema cannot express. */
export function readImportedResults(
  results: readonly ImportedEvaluationResult[],
  userId: string,
  listName = "evaluation_results",
): ImportedResult[] {
  const issues: ValidationError[] = [];
  const read = results.map((result, index) => {
    const { evaluator_id, profile_name, criteria, pass, score_raw, explanation } = result;
    const micros = (field: "evaluation_duration" | "explanation_duration") => {
      const value = readDuration(result[field]);
      if (value !== "unreadable") return value;
      issues.push(valueError(["body", listName, index, field], durationUnits, result[field]));
      return undefined;
    };
    return {
      // What an export calls external:NAME is imported as NAME.
      evaluatorId: readEvaluatorName(evaluator_id).name ?? evaluator_id,
      profileName: profile_name ?? criteria ?? undefined,
      sample: readSample(result),
      metadata: readResultMetadata(result),
      project: result.project_name ? { name: result.project_name, userId } : undefined,
      outcome: {
        pass: pass ?? undefined,
        score: typeof score_raw === "number" ? score_raw : undefined,
        explanation: explanation ?? undefined,
        evaluationMicros: micros("evaluation_duration"),
        explanationMicros: micros("explanation_duration"),
      },
    };
  });
  if (issues.length > 0) throw new InvalidRequestError(issues);
  return read;
}

/** Reads what a client sends of its own evaluators. A result keeps what it has no field for as details of its verdict. */
export function readClientEvaluations(
  evaluations: readonly ClientEvaluation[],
  userId: string,
): ImportedResult[] {
  const scores = evaluations.map(({ score }) => (isUnitScore(score) ? score : undefined));
  const results = evaluations.map((evaluation, index) => ({ ...evaluation, score_raw: scores[index] }));
  return readImportedResults(results, userId, "evaluations").map((result, index) => ({
    ...result,
    outcome: { ...result.outcome, extra: detailsOf(evaluations[index], scores[index] === undefined) },
  }));
}

function isUnitScore(score: ClientEvaluation["score"]): score is number {
  return typeof score === "number" && score >= 0 && score <= 1;
}

function detailsOf(evaluation: ClientEvaluation | undefined, withScore: boolean): Record<string, unknown> {
  if (evaluation === undefined) return {};
  const { log_id, trace_id, span_id, text_output, metadata, metric_name, metric_description, created_at } =
    evaluation;
  const details = {
    score: withScore ? evaluation.score : undefined,
    text_output,
    metadata,
    metric_name,
    metric_description,
    log_id,
    trace_id,
    span_id,
    created_at,
  };
  return Object.fromEntries(Object.entries(details).filter(([, value]) => (value ?? null) !== null));
}

/** Years and months have no fixed length, and a store cannot count more than a safe integer of microseconds. */
function readDuration(text: string | null | undefined): Micros | "unreadable" | undefined {
  if (text === null || text === undefined) return undefined;
  const { years, months, ...parts } = parse(text);
  const units = Object.keys(secondsPer) as Unit[];
  const seconds = units.reduce((total, unit) => total + (parts[unit] ?? 0) * secondsPer[unit], 0);
  const micros = Math.round(seconds * 1e6);
  return years || months || !Number.isSafeInteger(micros) ? "unreadable" : micros;
}
