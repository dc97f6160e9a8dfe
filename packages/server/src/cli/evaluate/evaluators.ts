import type { EvaluatorReference } from "@presage/contract";
import type { CommandServer } from "../../app/compose-command.ts";
import {
  findEvaluatorIssues,
  InvalidEvaluatorsError,
  type WantedEvaluator,
} from "../../evaluators/resolve-evaluators.ts";
import { evaluate } from "../../results/evaluate.ts";
import { readResultMetadata } from "../../results/result.ts";
import { CommandError, commandLineActor } from "../command.ts";
import type { CallServer } from "../connect.ts";
import type { EvaluateSample } from "./evaluate-line.ts";

/** Reads `--evaluator`: `FAMILY`, or `FAMILY=PROFILE`. */
export function readEvaluator(text: string): WantedEvaluator {
  const [evaluator = "", ...profile] = text.split("=");
  const profileName = profile.join("=");
  return { evaluator, ...(profileName === "" ? {} : { profileName }), explainStrategy: "always" };
}

/** The option that named an evaluator. */
function optionOf({ evaluator, profileName }: WantedEvaluator): string {
  return `--evaluator ${profileName === undefined ? evaluator : `${evaluator}=${profileName}`}`;
}

/** Evaluates in this process, by evaluators that it knows, and stores the results in the configured database. */
export async function evaluateLocally(
  server: CommandServer,
  evaluators: readonly WantedEvaluator[],
): Promise<EvaluateSample> {
  await checkEvaluatorsLocally(server, evaluators);
  const { account_id: accountId } = server.store.owner;
  const neverAborted = new AbortController().signal;
  return async ({ sample, metadata, idempotencyKey }) => {
    const request = {
      accountId,
      actor: commandLineActor(),
      sample,
      evaluators,
      metadata: readResultMetadata(metadata),
      capture: "all",
      hasConfidenceInterval: false,
      idempotencyKey,
    } as const;
    // A profile may be archived meanwhile.
    const evaluations = await evaluate(server.services, request, neverAborted).catch((error: unknown) => {
      throw namingOptions(error, evaluators);
    });
    return evaluations.map((evaluation) => ({
      evaluator_id: evaluation.evaluatorId,
      profile_name: evaluation.profile?.name ?? "",
      status: evaluation.outcome.status,
      error_message: evaluation.outcome.errorMessage ?? null,
      id: "id" in evaluation ? String(evaluation.id) : null,
      pass: evaluation.outcome.pass ?? null,
      score_raw: evaluation.outcome.score ?? null,
      explanation: evaluation.outcome.explanation ?? null,
    }));
  };
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

/** An error of evaluators as one of the options that name them. */
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
