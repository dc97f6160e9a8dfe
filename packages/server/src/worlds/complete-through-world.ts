import {
  type AnsweringWorld,
  type StoredWorld,
  type WorldExplanation,
  type WorldScores,
  worldReference,
} from "@presage/contract";
import { ClientDisconnectedError, UpstreamError } from "../platform/errors.ts";
import { orAborted, withDeadline } from "../platform/limits/deadline.ts";
import { costOf, type Prices } from "../platform/prices.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { defined, withoutNulls } from "../platform/words.ts";
import { readTokenCounts, recordsName } from "../upstream/completion.ts";
import type { Deployments } from "../upstream/deployments.ts";
import { isUnserved, timeoutError } from "../upstream/failures.ts";
import type {
  Complete,
  CompletionBody,
  CompletionChoice,
  CompletionRequest,
  UpstreamCompletion,
} from "../upstream/upstream.ts";
import { answerFrom, type ChosenExamples, chooseExamples, type ExampleServices } from "./choose-examples.ts";
import {
  type AskAgain,
  completeScored,
  confidenceOf,
  scoreOf,
  scoreOfRecords,
  withUsageOf,
} from "./confidence.ts";
import {
  type Asked,
  type ComposedTurns,
  composeTurns,
  isRecords,
  type ReadyWorld,
  type ShownExample,
  withOptionalExamples,
} from "./world.ts";

/** Finds the deployments that a world asks. */
export function findIn(
  deployments: Pick<Deployments, "find" | "getDefault">,
): WorldServices["findDeployment"] {
  return (name) => {
    const found = name === undefined ? deployments.getDefault() : deployments.find(name);
    return found && { complete: found.upstream.complete, timeoutMs: found.timeoutMs };
  };
}

/** A completion, the world that made it, what was sent, and the examples in the prompt. */
export interface WorldCompletion extends UpstreamCompletion {
  world: AnsweringWorld;
  /** The turns that were sent; for an answer from the records, what a model would be sent. */
  compose(): ComposedTurns;
  explain: WorldExplanation;
  /** The texts of the explained examples. */
  shown: readonly ShownExample[];
  /** Undefined if the world is not asked how sure it is; null if it is not calibrated. */
  confidence?: number | null | undefined;
  /** Undefined if the world answers however sure it is. */
  abstained?: boolean | undefined;
  isEscalated?: boolean;
}

export interface WorldServices extends ExampleServices {
  reader(): Database;
  /** The default deployment if no name is given; undefined if there is no such deployment. */
  findDeployment(name: string | undefined): { complete: Complete; timeoutMs: number } | undefined;
}

/** Wraps an upstream's `complete` so that its calls are counted and traced. */
export type Measure = (complete: Complete) => Complete;

/**
 * Like an upstream's `complete`, but the request's messages are those of the world: its system turn, the examples for what is
 * `asked`, and `asked` itself. Each call that the answer takes is measured separately.
 */
export function completeThroughWorld(
  services: WorldServices,
  world: ReadyWorld,
  asked: Asked,
): (request: CompletionRequest, signal: AbortSignal, measure?: Measure) => Promise<WorldCompletion> {
  return async (request, signal, measure = (complete) => complete) => {
    const call = { asked, request, signal, measure, startedAtMs: performance.now(), timeoutMs: 0 };
    const settled = await withOptionalExamples(world, async (usable) =>
      settle(services, usable, call, await answer(services, usable, call)),
    );
    services.observe?.(settled);
    return settled;
  };
}

interface WorldCall {
  asked: Asked;
  request: CompletionRequest;
  signal: AbortSignal;
  measure: Measure;
  startedAtMs: number;
  /** How long the whole call may take: the longest time-out of the deployments that it asks. */
  timeoutMs: number;
}

/** A call that begins this soon keeps its deployment's own deadline, so that a time-out counts against the replica. */
const soonMs = 1_000;

/** The answer of the world's model or of its records, with the score of each method that it is asked for. */
async function answer(services: WorldServices, world: ReadyWorld, call: WorldCall): Promise<WorldCompletion> {
  const { asked, request, signal } = call;
  const { model, confidence } = world.config;
  const methods = confidence?.methods ?? [];
  // The records answer a step, even if the model is told a conversation.
  const ofStep = { ...asked, conversation: undefined };
  const choose = (by: Asked) => chooseExamples(services, services.reader, world, by, signal);
  // Begun in the same turn of the event loop, so that both searches are one message.
  const [retrieval, chosen] = await Promise.all([
    methods.includes("retrieval")
      ? scoreOfRecords(services, services.reader, world, ofStep, signal)
      : undefined,
    choose(isRecords(model) ? ofStep : asked),
  ]);
  // Records that may show no example know nothing, however similar the hidden examples are.
  const isGuess = isRecords(model) && chosen.examples.length === 0;
  const records = retrieval === undefined ? {} : { retrieval: isGuess ? 0 : retrieval };
  if (isRecords(model)) return completeFromRecords(world, ofStep, chosen, records);
  const send = async ({ explain, examples }: ChosenExamples): Promise<WorldCompletion> => {
    const composed = composeTurns(world, asked, examples);
    const asks = { ...request, messages: composed.messages };
    const complete = completeBy(services, call, model?.deployment, composed);
    const ask: AskAgain = (fields, within) => complete({ ...asks, ...fields }, within);
    const found = await completeScored(ask, asks, { methods, samples: confidence?.samples, signal });
    const scores = { ...found.scores, ...records };
    return {
      ...found.completion,
      world: toAnswering(world, found.completion.deployment),
      compose: () => composed,
      explain: { ...explain, score: scoreOf(scores), scores, predictions: found.predictions },
      shown: examples,
    };
  };
  try {
    return await send(chosen).catch((error: unknown) => {
      if (!isOverlong(error) || chosen.examples.length === 0) throw error;
      return send(halved(chosen));
    });
  } catch (error) {
    if (model?.fallback !== "retrieval" || !isUnserved(error)) throw error;
    // No score, because a calibration is about what the model says.
    return completeFromRecords(world, ofStep, await choose(ofStep), {});
  }
}

/**
 * How a deployment is asked: later calls have what is left of the prediction's time. Examples are counted in each call, by their share of
 * the characters.
 */
function completeBy(
  { findDeployment }: WorldServices,
  call: WorldCall,
  name: string | null | undefined,
  { exampleShare }: ComposedTurns,
): Complete {
  const found = findDeployment(name ?? undefined);
  if (found === undefined)
    throw new UpstreamError("unavailable", `There is no deployment ${name}, which the world asks.`);
  const { complete } = found;
  const timeoutMs = Math.max(call.timeoutMs, found.timeoutMs);
  call.timeoutMs = timeoutMs;
  return call.measure((request, signal, options) => {
    const passedMs = performance.now() - call.startedAtMs;
    if (passedMs >= timeoutMs) return Promise.reject(timeoutError(timeoutMs));
    const limits = {
      timeoutMs: timeoutMs - passedMs,
      timeoutError: () => timeoutError(timeoutMs),
      signal,
      abortError: () => new ClientDisconnectedError(),
    };
    const asking =
      passedMs < soonMs
        ? complete(request, signal, options)
        : withDeadline(limits, (until) => orAborted(complete(request, until, options), until));
    return asking.then((completion) => {
      const { prompt_tokens: tokens } = readTokenCounts(completion.body.usage);
      return { ...completion, exampleTokens: Math.round(exampleShare * tokens) };
    });
  });
}

/** Adds the confidence, and does what the world wants if it is too low. */
async function settle(
  services: WorldServices,
  world: ReadyWorld,
  call: WorldCall,
  answered: WorldCompletion,
): Promise<WorldCompletion> {
  const { confidence: wanted } = world.config;
  if (!wanted) return answered;
  const least = wanted.min_confidence ?? undefined;
  const { compose, explain, shown } = answered;
  const { calibration } = world.pinned;
  const isGuess = answered.deployment === recordsName && shown.length === 0;
  // Without an example the records know nothing, whatever a calibration makes of the score 0.
  const confidence = isGuess && calibration !== null ? 0 : confidenceOf(calibration, explain.scores);
  if (least === undefined) return { ...answered, confidence };
  if (confidence !== null && confidence >= least) return { ...answered, confidence, abstained: false };
  if (wanted.below !== "escalate") {
    return { ...answered, confidence, abstained: true };
  }
  try {
    const composed = compose();
    const complete = completeBy(services, call, wanted.escalate_to, composed);
    const again = await complete({ ...call.request, messages: composed.messages }, call.signal);
    return {
      // Takes nothing from the first answer, such as the replica that sent it.
      ...withUsageOf(again, [answered, again]),
      compose,
      shown,
      confidence,
      abstained: false,
      isEscalated: true,
      world: toAnswering(world, again.deployment),
      explain: { ...explain, predictions: explain.predictions + 1 },
    };
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    return { ...answered, confidence, abstained: true };
  }
}

/** What a caller is shown of an answer that the world is not sure enough of, if the world hides such texts. */
export function withoutText(answered: WorldCompletion): WorldCompletion {
  // For a completion from the cache, `body` has only a part of it.
  const whole = JSON.parse(new TextDecoder().decode(answered.bytes)) as CompletionBody;
  const { id, object, created, model, usage } = whole;
  const [first, ...others] = whole.choices;
  // Log probabilities, token ids and whatever else an upstream adds would reveal the text. Only the first choice is certain to be one.
  const emptied = (choice: CompletionChoice | null): CompletionChoice => ({
    index: choice?.index,
    message: { role: "assistant", content: "" },
    finish_reason: choice?.finish_reason,
    logprobs: null,
  });
  const kept = defined({ id, object, created, model, usage });
  const body: CompletionBody = { ...kept, choices: [emptied(first), ...others.map(emptied)] };
  return { ...answered, body, bytes: new TextEncoder().encode(JSON.stringify(body)) };
}

/** The examples' part of the prompt tokens and of their cost, by their share of the characters. */
export function weighExamples(
  { body, model, compose }: Pick<WorldCompletion, "body" | "model" | "compose">,
  prices: Prices | undefined,
): Pick<WorldExplanation, "prompt_tokens_of_examples" | "cost_of_examples"> {
  const tokens = readTokenCounts(body.usage).prompt_tokens;
  const promptTokens = tokens === 0 ? 0 : Math.round(compose().exampleShare * tokens);
  const cost = prices && costOf(prices, model, { promptTokens, completionTokens: 0 });
  return { prompt_tokens_of_examples: promptTokens, cost_of_examples: cost ?? null };
}

/** What is stored of a world's prediction, to find out what misled it. */
export function toStoredWorld(completion: WorldCompletion): StoredWorld {
  const { world, explain, confidence, abstained, isEscalated: escalated } = completion;
  const examples = explain.examples.map(({ dataset_sample_id, trajectory_id, similarity }) => ({
    dataset_sample_id,
    trajectory_id,
    similarity,
  }));
  const scores = explain.score === null ? undefined : explain.scores;
  return { ...world, ...defined({ scores, confidence, abstained, escalated }), examples };
}

/** Sampling through a world: a request's own fields take precedence. The temperature is 0 unless one of the two sets it. */
export function paramsThrough(
  { config: { model } }: Pick<ReadyWorld, "config">,
  params: Readonly<Record<string, unknown>> | null | undefined,
): Record<string, unknown> {
  return { temperature: 0, ...(isRecords(model) ? {} : model?.params), ...withoutNulls(params ?? {}) };
}

function toAnswering({ name, revision }: ReadyWorld, answeredBy: string): AnsweringWorld {
  return { name, revision, answered_by: answeredBy };
}

function isOverlong(error: unknown): boolean {
  return error instanceof UpstreamError && error.category === "context_exceeded";
}

/** The more similar half of the examples. */
function halved({ examples, explain, query }: ChosenExamples): ChosenExamples {
  const half = Math.floor(examples.length / 2);
  return {
    query,
    examples: examples.slice(0, half),
    explain: { ...explain, examples: explain.examples.slice(0, half), reduced: true },
  };
}

/** The answer of the records alone; undefined if no example is similar. */
export function answerFromRecords(
  { config }: Pick<ReadyWorld, "config">,
  { examples: [nearest], query }: ChosenExamples,
): string | undefined {
  return nearest && answerFrom(config, query.action, nearest);
}

/** Completes from the records alone. Without an example, the state is the answer. */
function completeFromRecords(
  world: ReadyWorld,
  asked: Asked,
  chosen: ChosenExamples,
  scores: WorldScores,
): WorldCompletion {
  const content = answerFromRecords(world, chosen) ?? chosen.query.state;
  const deployment = recordsName;
  const body = {
    id: `chatcmpl-${Bun.randomUUIDv7()}`,
    object: "chat.completion",
    created: Math.floor(Date.now() / 1000),
    model: worldReference(world),
    choices: [
      { index: 0, message: { role: "assistant", content }, finish_reason: "stop", logprobs: null },
    ] satisfies [unknown],
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  };
  return {
    bytes: new TextEncoder().encode(JSON.stringify(body)),
    body: body as WorldCompletion["body"],
    deployment,
    world: toAnswering(world, deployment),
    compose: () => composeTurns(world, asked, chosen.examples),
    explain: { ...chosen.explain, scores, score: scoreOf(scores) },
    shown: chosen.examples,
  };
}
