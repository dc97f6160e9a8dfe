import type { ImportedEvaluationResult, ValidationError } from "@presage/contract";
import { parse } from "tinyduration";
import type { ImportedResult } from "../../../evaluation/results/keep/import-results.ts";
import type { Micros } from "../../../storage/micros.ts";
import { readSample } from "../../request/deprecations.ts";
import { readResultMetadata } from "../../request/read-filing.ts";
import { ValidationFailure } from "../../request/validation.ts";

const secondsPer = { weeks: 604_800, days: 86_400, hours: 3_600, minutes: 60, seconds: 1 } as const;
type Unit = keyof typeof secondsPer;

/** Results that were made elsewhere, as a request tells them; or every fault that their schema cannot see. */
export function readImportedResults(results: readonly ImportedEvaluationResult[]): ImportedResult[] {
  const faults: ValidationError[] = [];
  const read = results.map((result, index) => {
    const { evaluator_id, profile_name, criteria, pass, score_raw, explanation } = result;
    const micros = (field: "evaluation_duration" | "explanation_duration") => {
      const value = readDuration(result[field]);
      if (value !== "unreadable") return value;
      faults.push(durationFault(["body", "evaluation_results", index, field], result[field]));
      return undefined;
    };
    const evaluationMicros = micros("evaluation_duration");
    const explanationMicros = micros("explanation_duration");
    return {
      evaluatorId: evaluator_id,
      profileName: profile_name ?? criteria ?? undefined,
      sample: readSample(result),
      metadata: readResultMetadata(result),
      outcome: {
        ...(typeof pass === "boolean" ? { pass } : {}),
        ...(typeof score_raw === "number" ? { score: score_raw } : {}),
        ...(typeof explanation === "string" ? { explanation } : {}),
        ...(evaluationMicros === undefined ? {} : { evaluationMicros }),
        ...(explanationMicros === undefined ? {} : { explanationMicros }),
      },
    };
  });
  if (faults.length > 0) throw new ValidationFailure(faults);
  return read;
}

/** Years and months are no lengths of time, and what a store cannot count is none either. */
function readDuration(text: string | null | undefined): Micros | "unreadable" | undefined {
  if (text === null || text === undefined) return undefined;
  const { years, months, ...parts } = parse(text);
  const units = Object.keys(secondsPer) as Unit[];
  const seconds = units.reduce((total, unit) => total + (parts[unit] ?? 0) * secondsPer[unit], 0);
  const micros = Math.round(seconds * 1e6);
  return years || months || !Number.isSafeInteger(micros) ? "unreadable" : micros;
}

function durationFault(loc: ValidationError["loc"], input: unknown): ValidationError {
  const error = "Durations are weeks, days, hours, minutes and seconds";
  return { type: "value_error", loc, msg: `Value error, ${error}`, input, ctx: { error } };
}
