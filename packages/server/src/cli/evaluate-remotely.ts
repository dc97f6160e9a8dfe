import type { EvaluatorReference } from "@presage/contract";
import type { WantedEvaluator } from "../evaluators/resolve-evaluators.ts";
import { CommandError } from "./command-error.ts";
import type { CallServer } from "./connect-to-server.ts";
import type { EvaluateSample } from "./evaluate-line.ts";
import { optionOf } from "./wanted-evaluators.ts";

/** Evaluates on another Presage, which must know the evaluators and their profiles. */
export async function evaluateRemotely(
  call: CallServer,
  evaluators: readonly WantedEvaluator[],
): Promise<EvaluateSample> {
  await checkEvaluatorsRemotely(call, evaluators);
  const references = evaluators.map(toReference);
  return async ({ sample, metadata, idempotencyKey }) => {
    const request = {
      ...metadata,
      evaluators: references,
      evaluated_model_system_prompt: sample.systemPrompt,
      evaluated_model_retrieved_context: sample.retrievedContext && [...sample.retrievedContext],
      evaluated_model_input: sample.input,
      evaluated_model_output: sample.output,
      evaluated_model_gold_answer: sample.goldAnswer,
    };
    const items = await call(({ evaluate }) => evaluate(request, { idempotencyKey }));
    return items.map(({ evaluation_result, evaluator_id, profile_name, status, error_message }) => ({
      evaluator_id,
      profile_name,
      status,
      error_message,
      id: evaluation_result?.id ?? null,
      pass: evaluation_result?.pass ?? null,
      score_raw: evaluation_result?.score_raw ?? null,
      explanation: evaluation_result?.explanation ?? null,
    }));
  };
}

/** Refuses evaluators that the server does not have. */
export async function checkEvaluatorsRemotely(
  call: CallServer,
  evaluators: readonly WantedEvaluator[],
): Promise<void> {
  const known = await call((presage) => presage.evaluators.list());
  for (const wanted of evaluators) {
    const found = known.find(
      ({ id, aliases }) => id === wanted.evaluator || aliases.includes(wanted.evaluator),
    );
    if (found === undefined) {
      const families = [...new Set(known.map(({ evaluator_family }) => evaluator_family))];
      throw new CommandError(`${optionOf(wanted)}: Unknown evaluator; available: ${families.join(", ")}`);
    }
    await checkProfile(call, wanted, found);
  }
}

/** An evaluator as requests name it. */
export function toReference({
  evaluator,
  profileName,
  explainStrategy,
}: WantedEvaluator): EvaluatorReference {
  return { evaluator, profile_name: profileName, explain_strategy: explainStrategy };
}

async function checkProfile(
  call: CallServer,
  wanted: WantedEvaluator,
  { evaluator_family, profile_required }: { evaluator_family: string; profile_required: boolean },
): Promise<void> {
  const { profileName } = wanted;
  if (profileName === undefined) {
    if (profile_required) throw new CommandError(`${optionOf(wanted)}: name a profile, as FAMILY=PROFILE`);
    return;
  }
  const profiles = await call((presage) =>
    presage.profiles.list({ evaluator_family, name: profileName, get_last_revision: true, limit: 1 }),
  );
  if (profiles.length > 0) return;
  throw new CommandError(
    `${optionOf(wanted)}: The family ${evaluator_family} has no profile of this name, or it is archived`,
  );
}
