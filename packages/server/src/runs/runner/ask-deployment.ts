import type { DatasetSample } from "@presage/contract";
import { UpstreamError } from "../../platform/errors.ts";
import { type FairSlots, type PlacesBehindLive, takePlaceBehindLive } from "../../platform/limits/turns.ts";
import type { ChatParent } from "../../platform/observability/tracing.ts";
import type { Answer } from "../../platform/storage/answer-columns.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { Requester } from "../../platform/storage/store.ts";
import { upstreamFields } from "../../predictions/predict.ts";
import { readAnswer, refuseControlTokens } from "../../predictions/stored-rows.ts";
import { countCalls, type ModelUse, traceCompletion } from "../../upstream/completion.ts";
import { type Deployments, noDeployment } from "../../upstream/deployments.ts";
import type { ExampleServices } from "../../worlds/choose-examples.ts";
import {
  completeThroughWorld,
  findIn,
  type Measure,
  toStoredWorld,
  type WorldCompletion,
} from "../../worlds/complete-through-world.ts";
import { findReferred, type KnownWorlds } from "../../worlds/find-world.ts";
import { readHistory } from "../../worlds/recorded-steps.ts";
import { type Asked, fieldsOf, isRecords, type ReadyWorld, stepsShown } from "../../worlds/world.ts";
import { toStoredText } from "../report/outcomes-store.ts";
import { nameOf, type Run, type RunDataset } from "../run.ts";
import { type PromptTurn, promptOf, type Step } from "./steps.ts";

export interface TargetServices {
  deployments: Pick<Deployments, "find" | "getDefault">;
  knownWorlds: Pick<KnownWorlds, "find">;
}

/** The world of a run, if its target is a world; or why its target cannot be asked now. */
export async function findTarget(
  { deployments, knownWorlds }: TargetServices,
  { account_id: accountId, target, provenance }: Pick<Run, "account_id" | "target" | "provenance">,
  signal: Requester["signal"],
): Promise<{ world: ReadyWorld | undefined } | { reason: string }> {
  if (provenance.finished_early) return { world: undefined };
  const lacks = (name: string) =>
    deployments.find(name) === undefined ? { reason: noDeployment(name).message } : undefined;
  if (target.kind === "deployment") return lacks(target.deployment) ?? { world: undefined };
  if (target.kind !== "world") return { world: undefined };
  const world = await findReferred({ knownWorlds }, { accountId, signal }, nameOf(target));
  if ("reason" in world) return { reason: `${world.reason}.` };
  return lacks(deploymentOf({ deployments }, world)) ?? { world };
}

/** The deployment that a world asks; any existing deployment for a world of records alone. */
export function deploymentOf(
  { deployments }: { deployments: Pick<Deployments, "getDefault"> },
  { config: { model } }: Pick<ReadyWorld, "config">,
): string {
  const named = model && "deployment" in model ? model.deployment : undefined;
  return named ?? deployments.getDefault().name;
}

/** A step that is asked through a world. */
interface ThroughWorld {
  complete: ReturnType<typeof completeThroughWorld>;
  /** What is stored of the completion in addition to its answer. */
  toStored(completion: WorldCompletion): string;
}

/** A run through a world. */
export interface WorldRun {
  services: ExampleServices & Pick<TargetServices, "deployments">;
  reader: Database;
  run: Pick<Run, "mode"> & { dataset: RunDataset };
  world: ReadyWorld;
}

/** The number of earlier steps' predictions that a step is told. */
export function stepsTold(world: ReadyWorld | undefined): number {
  return world === undefined || isRecords(world.config.model) ? 1 : Math.max(1, stepsShown(world.config));
}

/**
 * A step through a world. The sample's own trajectory is never an example, whichever dataset the examples come from. The steps before
 * it are the recorded ones, or in a free-running run the predicted ones.
 */
export async function throughWorld(
  { services, reader, run, world }: WorldRun,
  { sample }: Pick<Step, "sample">,
  predicted: readonly string[],
): Promise<ThroughWorld> {
  const { interaction, context, trajectory_id: trajectoryId, tags } = sample;
  const { revisionId } = run.dataset;
  const told = run.mode === "free-running" ? predicted : undefined;
  const asked: Asked = {
    context,
    ...(interaction
      ? { interaction: { ...interaction, state: predicted.at(-1) ?? interaction.state } }
      : { messages: promptOf(sample, predicted) }),
    history: interaction ? await readHistory({ reader, revisionId, world }, sample, told) : [],
    recorded: { trajectoryId, tags: tags ?? {} },
  };
  const findDeployment = findIn(services.deployments);
  return {
    complete: completeThroughWorld({ ...services, reader: () => reader, findDeployment }, world, asked),
    toStored: (completion) => toStoredAnswer(sample, completion, predicted.at(-1)),
  };
}

/** Allows for rounding. */
const nearlyEqual = 0.999;

/** The stored answer, with the fields that the run's report counts. `state`: the predicted state that replaced the recorded one. */
function toStoredAnswer(
  sample: DatasetSample,
  completion: WorldCompletion,
  state: string | undefined,
): string {
  const { explain, shown } = completion;
  const query = fieldsOf(sample, state);
  const fields = (["action", "state", "task"] as const).filter((field) => query[field].trim() !== "");
  const isNear = (index: number) =>
    shown[index]?.nextState === sample.next_state &&
    fields.every((field) => (explain.examples[index]?.by[field] ?? 0) >= nearlyEqual);
  return toStoredText({
    leavesOut: explain.left_out.trajectory > 0,
    nearDuplicate: explain.examples.some((_, index) => isNear(index)),
    world: toStoredWorld(completion),
  });
}

export function readWorldAnswer(
  { toStored }: ThroughWorld,
  completion: WorldCompletion,
): Answer & { stored: string } {
  return { ...readAnswer(completion), stored: toStored(completion) };
}

export interface AskServices extends PlacesBehindLive {
  deployments: Pick<Deployments, "find">;
  /** Limits the concurrent calls of runs. */
  slots: FairSlots;
  /** Called after each call to a deployment, to count the account's usage. */
  recordCall?: ((use: ModelUse) => void) | undefined;
}

/** One prediction that a run asks a deployment for. */
export interface StepRequest {
  accountId: string;
  /** The key that the call is counted for. */
  keyId: string | undefined;
  deployment: string;
  model: string | undefined;
  messages: readonly PromptTurn[];
  /** The world that makes the messages, if any. */
  through?: ThroughWorld | undefined;
  params: Readonly<Record<string, unknown>>;
  /** Steps of a trajectory go to the replica that has their prefix cached. */
  session: string;
  /** Whether the next step is told the answer, which then must not contain control tokens. */
  isFedBack: boolean;
  /** The span under which the call is traced. */
  span?: ChatParent | undefined;
  /** Called before the deployment is asked again because it could not be reached. */
  mayRetry(): boolean;
}

/** An answer; deployment and time are null if no model was called. */
export interface StepResponse extends Omit<Answer, "deployment"> {
  deployment: string | null;
  /** From the call to its response, without the waiting before the call. */
  latencyMs: number | null;
  /** JSON of the world that answered. */
  stored?: string;
}

/** Asks a deployment, after live requests. Throws an `UpstreamError`, or the signal's reason. */
export type PredictStep = (request: StepRequest, signal: AbortSignal) => Promise<StepResponse>;

export async function askDeployment(
  { deployments, slots, recordCall, ...places }: AskServices,
  request: StepRequest,
  signal: AbortSignal,
): Promise<StepResponse> {
  const {
    deployment: name,
    model,
    messages,
    params,
    session,
    accountId,
    keyId,
    span,
    mayRetry,
    through,
  } = request;
  const release = await slots.take(accountId, signal);
  let leave: (() => void) | undefined;
  try {
    leave = await takePlaceBehindLive(places, signal);
    const deployment = deployments.find(name);
    if (deployment === undefined) throw noDeployment(name);
    const startedAtMs = performance.now();
    const caller = { accountId, keyId };
    // Without sharing, because each repeat is a separate completion.
    const options = { session: { name: "x-session-id", value: session }, mayRetry, spender: caller };
    // A call that was ended because another sample failed has not failed itself.
    const isAbandoned = (error: unknown, within: AbortSignal) =>
      within.aborted && !signal.aborted && !(error instanceof UpstreamError);
    const measure: Measure = (complete) => {
      const counted = countCalls(complete, caller, recordCall, isAbandoned);
      return (asked, within) => traceCompletion(counted, span, asked, within, options);
    };
    const asked = { ...(model === undefined ? {} : { model }), ...upstreamFields(params), messages };
    const answer = through
      ? readWorldAnswer(through, await through.complete(asked, signal, measure))
      : readAnswer(await measure(deployment.upstream.complete)(asked, signal));
    const latencyMs = performance.now() - startedAtMs;
    if (request.isFedBack) refuseControlTokens(answer, deployment);
    return { ...answer, latencyMs };
  } finally {
    leave?.();
    release();
  }
}
