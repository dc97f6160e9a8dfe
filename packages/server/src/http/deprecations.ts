import type {
  DeprecatedExplain,
  EvaluateItem,
  EvaluateRequest,
  EvaluationResult,
  EvaluationResultFilter,
  EvaluatorProfile,
  EvaluatorReference,
  ExplainStrategy,
  ImportedEvaluationResult,
} from "@presage/contract";
import type { Sample } from "../evaluation/sample.ts";

/** When the old names were replaced (RFC 9745: seconds since 1970). */
export const deprecationHeader = `@${Date.UTC(2026, 10, 21) / 1000}`;

/** Hears of each old name that a request uses. */
export type NoteOldName = (name: string) => void;

/** The place of one evaluator in a request, in the names that the caller used. */
export interface NamedReference {
  evaluator: string | undefined;
  profileName: string | undefined;
  explainStrategy: ExplainStrategy | undefined;
  /** The way to its fields in the body. */
  places: Readonly<Record<"evaluator" | "profileName", (string | number)[]>>;
}

/** The value under the new name, else the one under the old. Nulls are as good as absent. */
function newest<Value>(
  current: Value | null | undefined,
  old: Value | null | undefined,
  oldName: string,
  note: NoteOldName,
): Value | undefined {
  if (old === null || old === undefined) return current ?? undefined;
  note(oldName);
  return current ?? old;
}

/** The evaluators that a request wants, or undefined if it names none. */
export function readReferences(request: EvaluateRequest, note: NoteOldName): NamedReference[] | undefined {
  const references = newest(request.evaluators, request.criteria, "criteria", note);
  const list = request.evaluators ? "evaluators" : "criteria";
  return references?.map((reference, index) =>
    readReference(reference, ["body", list, index], request, note),
  );
}

function readReference(
  reference: EvaluatorReference,
  place: (string | number)[],
  { explain }: EvaluateRequest,
  note: NoteOldName,
): NamedReference {
  const older = newest(reference.evaluator_id, reference.criterion_id, "criterion_id", note);
  const explained = newest(reference.explain, explain, "explain", note);
  const oldStrategy = explained === undefined ? undefined : toStrategy(explained);
  const idName = reference.evaluator_id
    ? "evaluator_id"
    : reference.criterion_id
      ? "criterion_id"
      : "evaluator";
  return {
    evaluator: newest(reference.evaluator, older, "evaluator_id", note),
    profileName: reference.profile_name ?? reference.criteria ?? undefined,
    explainStrategy: newest(reference.explain_strategy, oldStrategy, "explain", note),
    places: {
      evaluator: [...place, reference.evaluator ? "evaluator" : idName],
      profileName: [...place, !reference.profile_name && reference.criteria ? "criteria" : "profile_name"],
    },
  };
}

type SampleFields = Pick<
  EvaluateRequest & ImportedEvaluationResult,
  | "evaluated_model_system_prompt"
  | "evaluated_model_retrieved_context"
  | "evaluated_model_input"
  | "evaluated_model_output"
  | "evaluated_model_gold_answer"
  | "system_prompt"
  | "retrieved_context"
  | "input"
  | "output"
  | "label"
>;

/** The texts of a request, by whichever names they came. */
export function readSample(fields: SampleFields, note: NoteOldName): Sample {
  const systemPrompt = newest(
    fields.evaluated_model_system_prompt,
    fields.system_prompt,
    "system_prompt",
    note,
  );
  const input = newest(fields.evaluated_model_input, fields.input, "input", note);
  const output = newest(fields.evaluated_model_output, fields.output, "output", note);
  const goldAnswer = newest(fields.evaluated_model_gold_answer, fields.label, "label", note);
  const retrievedContext = newest(
    fields.evaluated_model_retrieved_context,
    fields.retrieved_context,
    "retrieved_context",
    note,
  );
  return {
    ...(systemPrompt === undefined ? {} : { systemPrompt }),
    ...(input === undefined ? {} : { input }),
    ...(output === undefined ? {} : { output }),
    ...(goldAnswer === undefined ? {} : { goldAnswer }),
    ...(retrievedContext === undefined
      ? {}
      : { retrievedContext: typeof retrievedContext === "string" ? [retrievedContext] : retrievedContext }),
  };
}

/** The profile's name that a search asks for. */
export function readProfileName(
  filter: Pick<
    EvaluationResultFilter,
    "profile_name" | "criteria" | "criterion_profile_name" | "evaluator_profile_name"
  >,
  note: NoteOldName,
): string | undefined {
  const older = newest(
    filter.evaluator_profile_name,
    filter.criterion_profile_name,
    "criterion_profile_name",
    note,
  );
  return newest(filter.profile_name ?? filter.criteria, older, "evaluator_profile_name", note);
}

/** A family as a request about profiles names it, and the field that does. */
export interface NamedFamily {
  name: string;
  field: "evaluator_family" | "evaluator_id";
}

/** The family that a request about profiles speaks of. An old client says it in `evaluator_id`, there also by an evaluator. */
export function readFamily(
  request: { evaluator_family?: string | null | undefined; evaluator_id?: string | null | undefined },
  note: NoteOldName,
): NamedFamily | undefined {
  const { evaluator_family: current, evaluator_id: old } = request;
  const name = newest(current, old, "evaluator_id", note);
  if (name === undefined) return undefined;
  return { name, field: current === null || current === undefined ? "evaluator_id" : "evaluator_family" };
}

/** Whether a list of profiles is to have managed ones only, or none of them; the word as the query has it. */
export function readIsManaged(
  query: { is_managed?: string | undefined; is_patronus_managed?: string | undefined },
  note: NoteOldName,
): string | undefined {
  return newest(query.is_managed, query.is_patronus_managed, "is_patronus_managed", note);
}

type OldResultName =
  | "system_prompt"
  | "retrieved_context"
  | "input"
  | "output"
  | "label"
  | "explain"
  | "score_normalized";

/** A result in today's names. */
export type CurrentResult = Omit<EvaluationResult, OldResultName | "additional_info"> & {
  additional_info: Omit<EvaluationResult["additional_info"], "score_raw">;
};

/** A result with the names beside it that it had before. */
export function withOldResultNames(result: CurrentResult): EvaluationResult {
  return {
    ...result,
    additional_info: { ...result.additional_info, score_raw: result.score_raw },
    system_prompt: result.evaluated_model_system_prompt,
    retrieved_context: result.evaluated_model_retrieved_context,
    input: result.evaluated_model_input,
    output: result.evaluated_model_output,
    label: result.evaluated_model_gold_answer,
    explain: toOldExplain(result.explain_strategy),
    score_normalized: result.score_raw,
  };
}

export function withOldItemNames(item: Omit<EvaluateItem, "criterion_id" | "result">): EvaluateItem {
  return { ...item, criterion_id: item.evaluator_id, result: item.evaluation_result };
}

export function withOldProfileNames(
  profile: Omit<EvaluatorProfile, "evaluator_id" | "is_patronus_managed">,
): EvaluatorProfile {
  return { ...profile, evaluator_id: profile.evaluator_family, is_patronus_managed: profile.is_managed };
}

function toStrategy(explain: DeprecatedExplain): ExplainStrategy {
  if (typeof explain === "string") return explain;
  return explain ? "always" : "never";
}

function toOldExplain(strategy: ExplainStrategy): DeprecatedExplain {
  if (strategy === "always") return true;
  return strategy === "never" ? false : strategy;
}
