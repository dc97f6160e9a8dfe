import type { EvaluatorReference } from "@presage/contract";
import type { CommandServer } from "../../app/compose-command.ts";
import {
  findEvaluatorIssues,
  InvalidEvaluatorsError,
  type WantedEvaluator,
} from "../../evaluators/resolve-evaluators.ts";
import { CommandError } from "../command.ts";
import type { CallServer } from "../connect.ts";
import type { EvaluateSample } from "./evaluate-line.ts";

/** Reads `FAMILY`, or `FAMILY=PROFILE`. */
export function evaluatorNamed(text: string | undefined): { evaluator?: string; profile_name?: string } {
  if (text === undefined) return {};
  const [evaluator = "", ...profile] = text.split("=");
  const profile_name = profile.join("=");
  return { evaluator, ...(profile_name !== "" && { profile_name }) };
}

/** Reads `--evaluator`. */
export function readEvaluator(text: string): WantedEvaluator {
  const { evaluator = "", profile_name: profileName } = evaluatorNamed(text);
  return { evaluator, ...(profileName !== undefined && { profileName }), explainStrategy: "always" };
}

/** The option that named an evaluator. */
function optionOf({ evaluator, profileName }: WantedEvaluator): string {
  return `--evaluator ${profileName === undefined ? evaluator : `${evaluator}=${profileName}`}`;
}

/** Refuses evaluators that cannot be used. */
export async function checkEvaluatorsLocally(
  { services, store }: Pick<CommandServer, "services" | "store">,
  evaluators: readonly WantedEvaluator[],
): Promise<void> {
  const issues = await findEvaluatorIssues(services, store.owner.account_id, evaluators);
  if (issues.length > 0) throw new CommandError(describe(issues, evaluators));
  const judge = evaluators.find(
    ({ evaluator }) => services.registry.find(evaluator)?.family.kind === "model",
  );
  if (judge === undefined || services.hasModel) return;
  throw new CommandError(`${optionOf(judge)}: needs a model; set PRESAGE_UPSTREAM_URL or PRESAGE_JUDGE_URL`);
}

/** An error about evaluators, in terms of the options that name them. */
export function namingOptions(error: unknown, evaluators: readonly WantedEvaluator[]): unknown {
  return error instanceof InvalidEvaluatorsError
    ? new CommandError(describe(error.issues, evaluators))
    : error;
}

function describe(issues: InvalidEvaluatorsError["issues"], evaluators: readonly WantedEvaluator[]): string {
  return issues
    .map(({ index, message }) => {
      const wanted = evaluators[index];
      const option = wanted === undefined ? "--evaluator" : optionOf(wanted);
      return `${option}: ${message ?? "name a profile, as FAMILY=PROFILE"}`;
    })
    .join("\n");
}

/** Evaluates with evaluators that have been checked. */
export function evaluateBy(call: CallServer, evaluators: readonly WantedEvaluator[]): EvaluateSample {
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
    // A profile may be archived in the meantime.
    const items = await call(({ evaluate }) => evaluate(request, { idempotencyKey })).catch(
      (error: unknown) => {
        throw namingOptions(error, evaluators);
      },
    );
    return items.map(
      ({ evaluation_result, result_id, evaluator_id, profile_name, status, error_message }) => ({
        evaluator_id,
        profile_name,
        status,
        error_message,
        id: evaluation_result?.id ?? result_id ?? null,
        pass: evaluation_result?.pass ?? null,
        score_raw: evaluation_result?.score_raw ?? null,
        explanation: evaluation_result?.explanation ?? null,
      }),
    );
  };
}

/** Refuses evaluators that the server does not have. */
export async function checkEvaluatorsRemotely(call: CallServer, evaluators: readonly WantedEvaluator[]) {
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
