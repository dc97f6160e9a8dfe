import type { EvaluatorFamily, EvaluatorProfile } from "@presage/sdk";

export interface EvaluatorChoice {
  /** The profile’s public id. */
  id: string;
  family: string;
  profile: string;
  description: string;
  needsGoldAnswer: boolean;
  /** Why it cannot be used on this response. */
  obstacle: string | undefined;
}

export interface FamilyChoices {
  family: string;
  description: string;
  usesModel: boolean;
  /** It uses one, and none is configured. */
  needsModel: boolean;
  choices: EvaluatorChoice[];
}

export function evaluatorChoices(
  families: readonly EvaluatorFamily[],
  profiles: readonly EvaluatorProfile[],
  { hasSystemTurn }: { hasSystemTurn: boolean },
): FamilyChoices[] {
  return families
    .map((family) => ({
      family: family.family_name,
      description: family.description,
      usesModel: family.uses_model,
      needsModel: family.needs_model,
      choices: profiles
        .filter(({ evaluator_family }) => evaluator_family === family.family_name)
        .map((profile) => choiceOf(family, profile, hasSystemTurn)),
    }))
    .filter(({ choices }) => choices.length > 0);
}

function choiceOf(
  { family_name, required_input_fields, needs_model }: EvaluatorFamily,
  { public_id, name, config, description }: EvaluatorProfile,
  hasSystemTurn: boolean,
): EvaluatorChoice {
  const ownNeeds: unknown[] = Array.isArray(config.required_fields) ? config.required_fields : [];
  const needs = new Set([...required_input_fields, ...ownNeeds]);
  return {
    id: public_id,
    family: family_name,
    profile: name,
    description: description ?? "",
    needsGoldAnswer: needs.has("evaluated_model_gold_answer"),
    obstacle: needs_model ? "needs a model" : obstacleOf(needs, hasSystemTurn),
  };
}

function obstacleOf(needs: ReadonlySet<unknown>, hasSystemTurn: boolean): string | undefined {
  if (needs.has("evaluated_model_retrieved_context")) return "needs retrieved context";
  if (needs.has("evaluated_model_system_prompt") && !hasSystemTurn) return "needs a system turn";
  return undefined;
}
