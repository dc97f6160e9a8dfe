import type { CallWithCaller } from "../../http/call.ts";
import { spenderOf } from "../../http/caller.ts";
import { conflict } from "../../platform/errors.ts";
import type { Answer } from "../../platform/storage/answer-columns.ts";
import type { Store } from "../../platform/storage/store.ts";
import { measureCompletion, upstreamFields } from "../../predictions/predict.ts";
import { readAnswer, refuseControlTokens, unusable } from "../../predictions/stored-rows.ts";
import { recordsName } from "../../upstream/completion.ts";
import { type Deployment, type Deployments, noDeployment } from "../../upstream/deployments.ts";
import type { Complete, CompletionOptions, Sharing } from "../../upstream/upstream.ts";
import { briefReaderOf } from "../../worlds/choose-examples.ts";
import {
  completeThroughWorld,
  findIn,
  type Measure,
  paramsThrough,
  toStoredWorld,
  type WorldCompletion,
} from "../../worlds/complete-through-world.ts";
import { findReferred } from "../../worlds/find-world.ts";
import type { WorldParts } from "../../worlds/world-parts.ts";
import type { Ask } from "./step-episode.ts";

/** Cached answers of any age are used: in a group of rollouts the same action meets the same world. */
const anyAge = Number.MAX_SAFE_INTEGER;

export interface AskServices extends WorldParts {
  store: Store;
  deployments: Deployments;
}

/** Asks a deployment or a world for a step, counted and traced with the request. */
export function askForRequest(
  services: AskServices,
  { exchange, caller }: Pick<CallWithCaller, "exchange" | "caller">,
): Ask {
  const ask = askAs(services, spenderOf(caller), (complete, options) =>
    measureCompletion(complete, exchange, options),
  );
  return async (question, signal) => {
    const answer = await ask(question, signal);
    // Answers from records bypass `measureCompletion`.
    exchange.deployment = answer.deployment;
    return answer;
  };
}

/** Asks a deployment or a world for a step on behalf of a spender; `measure` counts each call. */
export function askAs(
  services: AskServices,
  spender: { accountId: string; keyId: string },
  measure: (complete: Complete, options: CompletionOptions) => Complete,
): Ask {
  const { deployments } = services;
  const { accountId } = spender;
  return async ({ messages, params, acceptsTruncated, failsOnAbstention, session, ...question }, signal) => {
    const sharing: Sharing | undefined = deployments.areCached() ? { accountId, maxAgeS: anyAge } : undefined;
    const options = { session: { name: "x-session-id", value: session }, sharing, spender };
    const asked = await findAsked(services, { accountId, signal }, question, (complete) =>
      measure(complete, options),
    );
    const fields = upstreamFields(asked.paramsOf(params));
    const startedAtMs = performance.now();
    const completion = await asked.complete({ ...fields, messages }, signal);
    const latencyMs = performance.now() - startedAtMs;
    const answer = readAnswer(completion);
    // With a world, this is the deployment that the world resolved to.
    const world = question.through && toStoredWorld(completion as WorldCompletion);
    if (world?.abstained === true && failsOnAbstention)
      throw unusable("its world is less sure of it than it needs");
    // Recorded observations without text are valid.
    const isOfModel = world?.answered_by !== recordsName;
    if (world?.abstained !== true && isOfModel) refuseUnusable(answer, acceptsTruncated);
    const deployment = deployments.find(completion.deployment) ?? asked.deployment;
    if (deployment !== undefined) refuseControlTokens(answer, deployment);
    return { ...answer, latencyMs, world };
  };
}

interface AskedForStep {
  complete: Complete;
  paramsOf(ofStep: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
  deployment?: Deployment;
}

/** The world that plays the step's episode, or the deployment that the step asks. */
async function findAsked(
  services: AskServices,
  requester: { accountId: string; signal: AbortSignal },
  { deployment: name, through }: Pick<Parameters<Ask>[0], "deployment" | "through">,
  measure: Measure,
): Promise<AskedForStep> {
  const { deployments, store, indexes, exampleTexts, observe } = services;
  if (through === undefined) {
    const deployment = name === undefined ? deployments.getDefault() : deployments.find(name);
    if (deployment === undefined) throw noDeployment(name);
    return { complete: measure(deployment.upstream.complete), paramsOf: (ofStep) => ofStep, deployment };
  }
  const world = await findReferred(services, requester, through.world);
  if ("reason" in world) throw conflict(`The episode cannot go on. ${world.reason}.`);
  const examples = { indexes, exampleTexts, observe, reader: briefReaderOf(store, requester) };
  const ofWorld = { ...examples, findDeployment: findIn(deployments) };
  const complete = completeThroughWorld(ofWorld, world, through.asked);
  return {
    complete: (request, signal) => complete(request, signal, measure),
    paramsOf: (ofStep) => paramsThrough(world, ofStep),
  };
}

/** Finish reasons of a model that did something other than predict the next observation. */
const otherEnds: ReadonlySet<string | null> = new Set(["tool_calls", "function_call", "content_filter"]);

/** Throws an `UpstreamError` for an answer that cannot be an observation. */
function refuseUnusable({ output, finishReason }: Answer, acceptsTruncated: boolean): void {
  const isCut = finishReason === "length";
  if (otherEnds.has(finishReason)) throw unusable(`it ended with ${finishReason}`);
  if (output.trim() === "" && isCut)
    throw unusable("its tokens ran out before any text; raise `max_tokens`, or let it think less");
  if (output.trim() === "") throw unusable("it has no text");
  if (isCut && !acceptsTruncated)
    throw unusable(
      'it was cut off at `max_tokens`; raise that, or set `truncated_output` of the environment to "accept"',
    );
}
