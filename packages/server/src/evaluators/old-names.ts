import type {
  DeprecatedExplain,
  EvaluateItem,
  EvaluateRequest,
  EvaluationResult,
  EvaluationResultFilter,
  EvaluatorCriteriaListResponse,
  EvaluatorCriteriaResponse,
  EvaluatorProfile,
  EvaluatorProfileListResponse,
  EvaluatorProfileResponse,
  EvaluatorReference,
  ExplainStrategy,
  ImportedEvaluationResult,
} from "@presage/contract";
import { externalPrefix, type Sample } from "./outcome.ts";

/** One evaluator that a request names. */
export interface NamedReference {
  /** Empty if it names none, which is refused together with the unknown ones. */
  evaluator: string;
  profileName: string | undefined;
  explainStrategy: ExplainStrategy;
  /** As the client sent it. */
  given: EvaluatorReference;
  /** The locations of its fields in the body, under the names that the client used. */
  places: Readonly<Record<"evaluator" | "profileName", (string | number)[]>>;
}

export function readReferences(
  request: Pick<EvaluateRequest, "evaluators" | "criteria" | "explain">,
): NamedReference[] {
  const list = request.evaluators ? "evaluators" : "criteria";
  return (request[list] ?? []).map((reference, index) =>
    readReference(reference, ["body", list, index], request),
  );
}

function readReference(
  reference: EvaluatorReference,
  place: (string | number)[],
  { explain }: Pick<EvaluateRequest, "explain">,
): NamedReference {
  const explained = reference.explain ?? explain ?? undefined;
  const oldStrategy = explained === undefined ? undefined : toStrategy(explained);
  const idName = reference.evaluator_id
    ? "evaluator_id"
    : reference.criterion_id
      ? "criterion_id"
      : "evaluator";
  return {
    evaluator: reference.evaluator ?? reference.evaluator_id ?? reference.criterion_id ?? "",
    profileName: reference.profile_name ?? reference.criteria ?? undefined,
    explainStrategy: reference.explain_strategy ?? oldStrategy ?? "always",
    given: reference,
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
  | "task_context"
  | "task_input"
  | "task_output"
  | "gold_answer"
>;

/** The texts of a request, under any of their names. */
export function readSample(fields: SampleFields): Sample {
  const retrievedContext =
    fields.evaluated_model_retrieved_context ?? fields.task_context ?? fields.retrieved_context ?? undefined;
  return {
    systemPrompt: fields.evaluated_model_system_prompt ?? fields.system_prompt ?? undefined,
    input: fields.evaluated_model_input ?? fields.task_input ?? fields.input ?? undefined,
    output: fields.evaluated_model_output ?? fields.task_output ?? fields.output ?? undefined,
    goldAnswer: fields.evaluated_model_gold_answer ?? fields.gold_answer ?? fields.label ?? undefined,
    retrievedContext: typeof retrievedContext === "string" ? [retrievedContext] : retrievedContext,
  };
}

/** The evaluator that a request names, and whether only an imported one is meant. */
export function readEvaluatorName(given: string | undefined): {
  name: string | undefined;
  isExternal: true | undefined;
} {
  const isExternal = given?.startsWith(externalPrefix) && given.length > externalPrefix.length;
  if (!isExternal) return { name: given, isExternal: undefined };
  return { name: given?.slice(externalPrefix.length), isExternal };
}

type ProfileNames = Pick<
  EvaluationResultFilter,
  "profile_name" | "criteria" | "criterion_profile_name" | "evaluator_profile_name"
>;

/** The profile name that a search filters by. */
export function readProfileName(filter: ProfileNames): string | undefined {
  const current = filter.profile_name ?? filter.criteria;
  return current ?? filter.evaluator_profile_name ?? filter.criterion_profile_name ?? undefined;
}

interface NamedFamily {
  name: string;
  field: "evaluator_family" | "evaluator_id";
}

export interface FamilyFields {
  evaluator_family?: string | null | undefined;
  evaluator_id?: string | null | undefined;
}

/** The family that a request about profiles names. Old clients name it in `evaluator_id`, which may also be an evaluator's id. */
export function readFamily({ evaluator_family, evaluator_id }: FamilyFields): NamedFamily | undefined {
  if (typeof evaluator_family === "string") return { name: evaluator_family, field: "evaluator_family" };
  return typeof evaluator_id === "string" ? { name: evaluator_id, field: "evaluator_id" } : undefined;
}

/** Whether to list only built-in profiles or none of them, as the query's text. */
export function readIsManaged(query: {
  is_managed?: string | undefined;
  is_patronus_managed?: string | undefined;
}): string | undefined {
  return query.is_managed ?? query.is_patronus_managed;
}

type OldResultName =
  | "system_prompt"
  | "retrieved_context"
  | "input"
  | "output"
  | "label"
  | "explain"
  | "score_normalized";

/** A result under current names. */
export type CurrentResult = Omit<EvaluationResult, OldResultName | "additional_info"> & {
  additional_info: Omit<EvaluationResult["additional_info"], "score_raw">;
};

/** A result with its old names added. */
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

/** An item of an evaluation's response under current names, without its result. */
export type NewItem = Omit<EvaluateItem, "evaluation_result" | "criterion_id" | "result">;

/** An item with its result, and with the old names added. */
export function withOldItemNames(item: NewItem, result: EvaluationResult | null): EvaluateItem {
  return { ...item, criterion_id: item.evaluator_id, evaluation_result: result, result };
}

/** The same as JSON. The result, its longest part, occurs twice but is serialised only once. */
export function itemJson(item: NewItem, result: EvaluationResult | null): string {
  const rest = JSON.stringify({ ...item, criterion_id: item.evaluator_id });
  const written = JSON.stringify(result);
  return `${rest.slice(0, -1)},"evaluation_result":${written},"result":${written}}`;
}

/** What differs between the two names of profiles: paths, fields of responses, and words of the document. */
export interface ProfileNaming {
  path: "/v1/evaluator-profiles" | "/v1/evaluator-criteria";
  /** The response fields with one profile, and with several. */
  one: keyof EvaluatorProfileResponse | keyof EvaluatorCriteriaResponse;
  many: keyof EvaluatorProfileListResponse | keyof EvaluatorCriteriaListResponse;
  /** How the ids of operations name one profile, and several. */
  idOfOne: string;
  idOfMany: string;
  /** What a sentence calls one profile, and several. */
  word: string;
  words: string;
  /** The end of each description, for the same operation under the other name. */
  sameAs: (method: string, rest?: string) => string;
}

export const asProfiles: ProfileNaming = {
  path: "/v1/evaluator-profiles",
  one: "evaluator_profile",
  many: "evaluator_profiles",
  idOfOne: "EvaluatorProfile",
  idOfMany: "EvaluatorProfiles",
  word: "a profile",
  words: "profiles",
  sameAs: () => "",
};

export const asCriteria: ProfileNaming = {
  path: "/v1/evaluator-criteria",
  one: "evaluator_criteria",
  many: "evaluator_criteria",
  idOfOne: "EvaluatorCriteria",
  idOfMany: "EvaluatorCriteria",
  word: "criteria",
  words: "criteria",
  sameAs: (method, rest = "") =>
    ` Criteria are profiles under another name: this is \`${method} ${asProfiles.path}${rest}\` for clients that call them criteria.`,
};

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
