import {
  readWorldReference,
  type WorldModelPrediction,
  type WorldModelRequest,
  worldReference,
} from "@presage/contract";
import { type CallWithCaller, requesterOf } from "../http/call.ts";
import { checkAccess, spenderOf } from "../http/caller.ts";
import { deploymentHeader } from "../http/exchange.ts";
import { InvalidRequestError, valueError } from "../http/validate.ts";
import { ServiceError } from "../platform/errors.ts";
import type { PriceList } from "../platform/prices.ts";
import type { Store } from "../platform/storage/store.ts";
import { defined } from "../platform/words.ts";
import type { Deployments } from "../upstream/deployments.ts";
import type { CompletionOptions, Sharing } from "../upstream/upstream.ts";
import { briefReaderOf } from "../worlds/choose-examples.ts";
import {
  completeThroughWorld,
  findIn,
  type Measure,
  paramsThrough,
  type WorldCompletion,
  weighExamples,
  withoutText,
} from "../worlds/complete-through-world.ts";
import { type Asked, type ReadyWorld, systemTurnOf, toAsked } from "../worlds/world.ts";
import type { WorldParts } from "../worlds/world-parts.ts";
import type { Capture } from "./capture.ts";
import {
  type ChatRequest,
  measureCompletion,
  readPrediction,
  recordAnswer,
  upstreamFields,
} from "./predict.ts";

/** The header that names the world to predict through. Responses have it too. */
export const worldHeader = "x-presage-world";
const explainHeader = "x-presage-explain";

/** The headers in which responses tell about the world. */
export function worldHeadersOf({ world, confidence, abstained }: WorldCompletion): Record<string, string> {
  return {
    [worldHeader]: worldReference(world),
    ...(typeof confidence === "number" && { "x-presage-confidence": confidence.toFixed(6) }),
    ...(abstained !== undefined && { "x-presage-abstained": String(abstained) }),
  };
}

/** What requests through worlds need. */
export interface PredictionWorlds extends WorldParts {
  store: Store;
  deployments: Deployments;
  capture: Pick<Capture, "watch">;
  prices: PriceList;
}

/** The world that a request names in its header, in `field`, or as its model if that is not a deployment. */
export function findNamedWorld(
  { knownWorlds, deployments }: Pick<PredictionWorlds, "knownWorlds" | "deployments">,
  call: CallWithCaller,
  { field, model }: { field?: string | null | undefined; model?: string | null | undefined },
): Promise<ReadyWorld | undefined> | undefined {
  const { headers } = call.request;
  const inHeader = headers.get(worldHeader);
  const named = inHeader ?? field;
  if (named !== null && named !== undefined) {
    if (inHeader !== null && field && field !== named)
      throw new InvalidRequestError([valueError(["body", "world"], `The header names ${named}`)]);
    if (headers.has(deploymentHeader))
      throw new InvalidRequestError([
        valueError(["header", deploymentHeader], "A world has its own deployment; name one of the two"),
      ]);
    const wanted = readWorldReference(named);
    if (wanted === undefined)
      throw new InvalidRequestError([
        valueError(
          inHeader === null ? ["body", "world"] : ["header", worldHeader],
          "Input should be the name of a world, or one of its revisions as NAME@NUMBER",
        ),
      ]);
    return knownWorlds.find(requesterOf(call), wanted).then((world) => {
      if (world === undefined) throw new ServiceError("not_found", `There is no world ${wanted.name}.`);
      return world;
    });
  }
  const wanted = typeof model === "string" ? readWorldReference(model) : undefined;
  if (wanted === undefined || headers.has(deploymentHeader) || deployments.find(model ?? "") !== undefined)
    return undefined;
  // For names that recently belonged to no world, the database is not read.
  return knownWorlds.find(requesterOf(call), wanted);
}

/** Throws for fields that mean something only with a world. */
export function refuseWithoutWorld({ history, exclude, explain }: WorldModelRequest): void {
  if (!history && !exclude && !explain) return;
  const given = Object.entries({ history, exclude, explain }).filter(([, value]) => Boolean(value));
  throw new InvalidRequestError(
    given.map(([name]) => valueError(["body", name], "Only a prediction through a world has this")),
  );
}

function toPrediction(
  { body, world, confidence, abstained }: WorldCompletion,
  explain: WorldCompletion["explain"] | undefined,
): WorldModelPrediction {
  return { ...readPrediction(body), world, ...defined({ confidence, abstained, explain }) };
}

/** A request through a world. */
interface AskedOfWorld {
  world: ReadyWorld;
  asked: Asked;
  /** The request as it is stored. */
  body: ChatRequest;
  /** Sampling, decoding and other fields that are forwarded. */
  params: Readonly<Record<string, unknown>>;
  session: CompletionOptions["session"];
  sharing: Sharing | undefined;
}

/** The completion of what is asked, from the world's deployment or its records. It is stored like others. */
export async function askWorld(
  services: PredictionWorlds,
  call: CallWithCaller,
  { world, asked, body, params, session, sharing }: AskedOfWorld,
): Promise<WorldCompletion> {
  const { request, exchange } = call;
  const { store, capture, deployments, indexes, exampleTexts, observe } = services;
  // Copying all the server's services would cost as much as a search's message.
  const reader = briefReaderOf(store, requesterOf(call));
  const examples = { indexes, exampleTexts, observe, reader };
  const through = completeThroughWorld({ ...examples, findDeployment: findIn(deployments) }, world, asked);
  // No `bodyDigest`, because the meaning of a body changes with the world.
  const shared = sharing && { accountId: sharing.accountId, maxAgeS: sharing.maxAgeS };
  const options = {
    session,
    // Examples change with each step.
    prefix: () => systemTurnOf(world.config, asked.context),
    sharing: shared,
    spender: spenderOf(call.caller),
  };
  const measure: Measure = (complete) => measureCompletion(complete, exchange, options);
  const complete = capture.watch(
    (asking, signal) => through(asking, signal, measure),
    call,
    body,
    worldReference(world),
  );
  const fields = upstreamFields(paramsThrough(world, params));
  // `capture.watch` passes on the very completion that `through` returned.
  const completion = (await complete({ ...fields, messages: [] }, request.signal)) as WorldCompletion;
  // Answers from records bypass `measureCompletion`, and the last call is not always the one that answers.
  recordAnswer(exchange, completion);
  return completion;
}

/** The answer to `POST /v1/predict` through a world. */
export async function predictThroughWorld(
  services: PredictionWorlds,
  call: CallWithCaller,
  world: ReadyWorld,
  body: WorldModelRequest,
  how: Pick<AskedOfWorld, "session" | "sharing">,
): Promise<{ prediction: WorldModelPrediction; completion: WorldCompletion }> {
  const completion = await askWorld(services, call, {
    world,
    asked: toAsked(body),
    body: body as ChatRequest,
    params: body.params ?? {},
    ...how,
  });
  const isExplained = body.explain === true || call.request.headers.get(explainHeader) === "1";
  const explain = isExplained
    ? {
        ...explanationFor(call, completion),
        ...weighExamples(completion, services.prices.current()),
      }
    : undefined;
  return { prediction: toPrediction(shownOf(world, completion), explain), completion };
}

/** The part of an answer that the caller is shown; what is stored keeps its text. */
export function shownOf({ config }: ReadyWorld, completion: WorldCompletion): WorldCompletion {
  const hides = completion.abstained === true && config.confidence?.hide_abstained === true;
  return hides ? withoutText(completion) : completion;
}

/** Whether the caller may see which samples examples are, and their texts. */
export function maySeeExamples({ caller }: Pick<CallWithCaller, "caller">): boolean {
  try {
    checkAccess(caller, "read");
    return true;
  } catch {
    return false;
  }
}

/** A key that may only predict is not told which samples the examples are, which the world's maker chose. */
function explanationFor(call: CallWithCaller, { explain }: WorldCompletion): WorldCompletion["explain"] {
  if (maySeeExamples(call)) return explain;
  const examples = explain.examples.map(({ dataset_sample_id: _, trajectory_id: __, ...one }) => one);
  return { ...explain, examples };
}
