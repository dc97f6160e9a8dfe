import type { EvaluateRequest, EvaluatorFamily } from "@presage/sdk";

const all = [
  "evaluated_model_system_prompt",
  "evaluated_model_retrieved_context",
  "evaluated_model_input",
  "evaluated_model_output",
  "evaluated_model_gold_answer",
] as const;

export type SampleField = (typeof all)[number];

/** The required and the optional texts of an example, in reading order. */
export function sampleFields(
  { required_input_fields, optional_input_fields }: EvaluatorFamily,
  config: Record<string, unknown>,
): { needed: SampleField[]; taken: SampleField[] } {
  // A judge's profile lists the fields that its criteria mention.
  const byProfile = Array.isArray(config.required_fields) ? config.required_fields : [];
  const needed = all.filter((field) => required_input_fields.includes(field) || byProfile.includes(field));
  const taken = all.filter((field) => optional_input_fields.includes(field) && !needed.includes(field));
  return { needed, taken };
}

/** Required texts are sent even if empty; optional ones only if filled in. */
export function toSample(
  draft: Record<SampleField, string>,
  needed: readonly SampleField[],
  taken: readonly SampleField[],
): Pick<EvaluateRequest, SampleField> {
  const textOf = (field: SampleField) =>
    needed.includes(field) || (taken.includes(field) && draft[field] !== "") ? draft[field] : undefined;
  const contexts = textOf("evaluated_model_retrieved_context");
  return {
    evaluated_model_system_prompt: textOf("evaluated_model_system_prompt"),
    evaluated_model_retrieved_context: contexts === undefined ? undefined : readContexts(contexts),
    evaluated_model_input: textOf("evaluated_model_input"),
    evaluated_model_output: textOf("evaluated_model_output"),
    evaluated_model_gold_answer: textOf("evaluated_model_gold_answer"),
  };
}

/** Drafts hold strings only, so lists are stored as JSON. */
export function readContexts(text: string): string[] {
  return text === "" ? [] : JSON.parse(text);
}

export function writeContexts(texts: readonly string[]): string {
  return texts.length === 0 ? "" : JSON.stringify(texts);
}
