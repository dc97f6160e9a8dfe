import {
  ChatCompletionRequest,
  OpenAiChatCompletionRequest,
  WorldModelPrediction,
  WorldModelRequest,
  WorldModelResponse,
} from "@presage/contract";
import type { CallWithCaller } from "../http/call.ts";
import { spenderOf } from "../http/caller.ts";
import { errorResponse, body as jsonBody, response } from "../http/describe.ts";
import { admit, countUsage, deploymentHeader } from "../http/exchange.ts";
import { reserveSentBody } from "../http/memory.ts";
import { readBodyBytes, readExactBytes } from "../http/request.ts";
import { type Operation, route } from "../http/route.ts";
import { InvalidRequestError, valueError } from "../http/validate.ts";
import type { Admission } from "../platform/limits/admission.ts";
import { reserveBytesAnyway } from "../platform/limits/memory.ts";
import type { Deployment, Deployments } from "../upstream/deployments.ts";
import type { CompletionOptions, Sharing, UpstreamCompletion } from "../upstream/upstream.ts";
import { isRecords, type ReadyWorld } from "../worlds/world.ts";
import type { Capture } from "./capture.ts";
import examples from "./examples.json" with { type: "json" };
import {
  type ChatRequest,
  type CompleteForRequest,
  chatResponse,
  measureCompletion,
  predict,
  readOpenAiChat,
  readPrediction,
  readStrictChat,
  recordCompletion,
  refuseIgnored,
  refuseIncomplete,
  refuseStreaming,
  setFields,
  toCompletionRequest,
} from "./predict.ts";
import { answered, chatCompletion, predictionFailures, predictionHeaders } from "./predictions-openapi.ts";
import {
  askWorld,
  findNamedWorld,
  maySeeExamples,
  type PredictionWorlds,
  predictThroughWorld,
  refuseWithoutWorld,
  shownOf,
  worldHeader,
  worldHeadersOf,
} from "./through-world.ts";

interface PredictionServices extends PredictionWorlds {
  admission: Admission;
  capture: Pick<Capture, "decide" | "watch">;
  settings: { maxBodyBytes: number; debugFields: boolean };
}

export const predictRoute = route("POST", "/v1/predict", {
  needs: "predict",
  id: "predict",
  summary: "Predict the next state",
  description:
    "Composes a prompt from the context and the interaction, has the world model complete it, and returns the predicted next state. Errors of the upstream have a `category` that says what a caller can do about them.",
  more: {
    requestParams: { header: predictionHeaders },
    requestBody: jsonBody(WorldModelRequest, {
      context: { environment_state: "An apple is in the fridge." },
      interaction: { state: "You are in the kitchen. The fridge is closed.", action: "open fridge" },
      params: { temperature: 0, max_tokens: 256 },
    }),
  },
  responses: {
    "200": answered(
      response(
        "The prediction, with `messages` if debug fields are enabled",
        WorldModelPrediction.or(WorldModelResponse),
        examples.predicted,
      ),
    ),
    ...predictionFailures,
  },
  async handle(services: PredictionServices, { call }) {
    const { request, exchange } = call;
    const { deployments, settings } = services;
    const { debugFields } = settings;
    const { bytes, sharing, cached } = await admitPrediction(services, call, "predict", !debugFields);
    if (cached !== undefined) return Response.json(readPrediction(cached.body));
    const body = await readExactBytes(call, WorldModelRequest, bytes);
    refuseStreaming(body.params?.stream);
    const finding = findNamedWorld(services, call, { field: body.world });
    const world = finding && (await finding);
    const session = readSessionHeader(request.headers);
    if (world !== undefined)
      return await answerThroughWorld(services, call, world, body, { session, sharing });
    refuseWithoutWorld(body);
    const named = findNamedDeployment(deployments, request.headers);
    const complete = completeBy(services, named, call, body, sharing);
    const { prediction, messages } = predict(complete, body, request.signal);
    if (!debugFields) {
      reserveSentBody(exchange);
      return Response.json(await prediction);
    }
    const { reservedBytes } = exchange;
    const response = { ...(await prediction), messages };
    reserveBytesAnyway(exchange, exchange.reservedBytes + reservedBytes);
    return Response.json(response);
  },
});

/** How a prediction begins: it is counted and admitted, and there may be a cached completion for its bytes. */
async function admitPrediction(
  services: PredictionServices,
  call: CallWithCaller,
  operation: "predict" | "chat",
  mayUseCached: boolean,
) {
  countUsage(call, operation);
  await admit(services.admission, call);
  const bytes = await readBodyBytes(call, services.settings.maxBodyBytes);
  const sharing = readSharing(services, call, operation, bytes);
  return { bytes, sharing, cached: mayUseCached ? findCached(services, call, sharing) : undefined };
}

async function answerThroughWorld(
  services: PredictionServices,
  call: CallWithCaller,
  world: ReadyWorld,
  body: WorldModelRequest,
  how: Parameters<typeof predictThroughWorld>[4],
): Promise<Response> {
  const predicting = predictThroughWorld(services, call, world, body, how);
  reserveSentBody(call.exchange);
  const { prediction, completion } = await predicting;
  const answer =
    services.settings.debugFields && maySeeExamples(call)
      ? { ...prediction, messages: completion.compose().messages }
      : prediction;
  return Response.json(answer, { headers: worldHeadersOf(completion) });
}

/** How the operations of the two kinds of servers differ. */
const chats = {
  strict: {
    Request: ChatCompletionRequest,
    read: readStrictChat,
    streaming: "Streaming is not supported.",
    refused: "`stream: true`",
    events: {},
  },
  openai: {
    Request: OpenAiChatCompletionRequest,
    read: readOpenAiChat,
    streaming: "With `stream` the finished completion is sent as server-sent events.",
    refused: "`stream: true` within `params`",
    events: {
      "text/event-stream": {
        schema: { type: "string" as const },
        example: "data: {…}\n\ndata: [DONE]\n\n",
      },
    },
  },
};

/** The operation of a server with this `PRESAGE_CHAT_COMPATIBILITY`. */
export function chatRoute(chatCompatibility: keyof typeof chats): Operation<PredictionServices> {
  const { Request, read, streaming, refused, events } = chats[chatCompatibility];
  // Whether the client wants a stream is known only once the body has been read.
  const mayUseCached = chatCompatibility === "strict";
  return route("POST", "/v1/chat/completions", {
    needs: "predict",
    id: "completeChat",
    summary: "Complete a chat from an interaction or from messages",
    description: `OpenAI's chat completions. With \`messages\` the request is forwarded to the upstream; with \`interaction\`, the prompt is composed as for \`POST /v1/predict\`. ${streaming}`,
    more: {
      requestParams: { header: predictionHeaders },
      requestBody: jsonBody(Request, examples.chatRequest),
    },
    responses: {
      "200": answered({ ...chatCompletion, content: { ...chatCompletion.content, ...events } }),
      "400": errorResponse(
        `The request is not supported, for example ${refused}`,
        "Streaming is not supported.",
      ),
      ...predictionFailures,
    },
    async handle(services: PredictionServices, { call }) {
      const { request, exchange } = call;
      const { deployments } = services;
      const { bytes, sharing, cached } = await admitPrediction(services, call, "chat", mayUseCached);
      if (cached !== undefined) return chatResponse(cached);
      const { body, respond } = await read(call, bytes);
      refuseStreaming(body.params?.stream);
      refuseIncomplete(body);
      const finding = findNamedWorld(services, call, { model: body.model });
      const world = finding && (await finding);
      if (world !== undefined) {
        if (!isLanguageModel(deployments, world)) refuseIgnored(body);
        const { context, interaction, messages } = body;
        const asked = { context, ...(interaction ? { interaction } : { messages }) };
        const session = readSessionHeader(request.headers);
        const asking = askWorld(services, call, {
          world,
          asked,
          body,
          params: setFields(body),
          session,
          sharing,
        });
        reserveSentBody(exchange);
        const completion = await asking;
        const answer = respond(shownOf(world, completion));
        for (const [name, value] of Object.entries(worldHeadersOf(completion)))
          answer.headers.set(name, value);
        return answer;
      }
      const named = findNamedDeployment(deployments, request.headers, body.model);
      if ((named ?? deployments.getDefault()).isSandbox) refuseIgnored(body);
      const complete = completeBy(services, named, call, body, sharing);
      const completion = complete(toCompletionRequest(withoutDeployment(deployments, body)), request.signal);
      reserveSentBody(exchange);
      return respond(await completion);
    },
  });
}

/**
 * The layers that ask the deployment, from the outside in: `capture` stores the prediction, `measureCompletion` counts and traces it,
 * `app/compose-deployments.ts` adds the fallback and the watch over outages, and `upstream/create-upstream.ts` caches, chooses a
 * replica and retries.
 */
function completeBy(
  { deployments, capture }: Pick<PredictionServices, "deployments" | "capture">,
  named: Deployment | undefined,
  call: CallWithCaller,
  body: ChatRequest,
  sharing: Sharing | undefined,
): CompleteForRequest {
  const { request, exchange } = call;
  const { name, upstream } = named ?? deployments.getDefault();
  const session = readSessionHeader(request.headers);
  const complete = measureCompletion(upstream.complete, exchange, {
    session,
    sharing,
    spender: spenderOf(call.caller),
  });
  return capture.watch(complete, call, body, name);
}

function isLanguageModel(deployments: Deployments, { config: { model } }: ReadyWorld): boolean {
  if (isRecords(model)) return false;
  const name = model?.deployment;
  return !(name ? deployments.find(name) : deployments.getDefault())?.isSandbox;
}

/** If the request's model is a deployment's name, it is replaced by the model of the deployment that is asked. */
function withoutDeployment(deployments: Deployments, body: ChatRequest): ChatRequest {
  const { model } = body;
  if (typeof model !== "string" || deployments.find(model) === undefined) return body;
  const { model: _, ...rest } = body;
  return rest;
}

/** The second header is that of SGLang's gateway. */
const sessionHeaders = ["x-session-id", "x-smg-routing-key"];
const usable = /^[!-~]{1,256}$/;

/** The header that says which requests are of one trajectory; undefined if none is sent. */
function readSessionHeader(headers: Headers): CompletionOptions["session"] {
  for (const name of sessionHeaders) {
    const value = headers.get(name);
    if (value === null) continue;
    if (usable.test(value)) return { name, value };
    throw refusedHeader(name, "Input should be 1 to 256 visible ASCII characters", value);
  }
  return undefined;
}

/** A request with a header that cannot be used. */
function refusedHeader(header: string, error: string, value: string): InvalidRequestError {
  return new InvalidRequestError([valueError(["header", header], error, value)]);
}

/**
 * The cached completion for a body that had a hit before, so that its meaning is known without parsing it. Undefined if there is none, or if
 * the request has to be read anyway, to capture or to trace it.
 */
function findCached(
  { deployments, capture }: Pick<PredictionServices, "deployments" | "capture">,
  call: CallWithCaller,
  sharing: Sharing | undefined,
): UpstreamCompletion | undefined {
  const { request, exchange } = call;
  if (sharing === undefined || exchange.span !== undefined) return undefined;
  if (capture.decide(call) !== "off") return undefined;
  const name = request.headers.get(deploymentHeader);
  const asked = name === null ? deployments.getDefault() : deployments.find(name);
  const cached = asked?.upstream.findCached(sharing);
  if (cached === undefined) return undefined;
  readSessionHeader(request.headers);
  recordCompletion(exchange, cached);
  return cached;
}

/**
 * How old a stored response may be for this `Cache-Control` of a request, in seconds; with 0, none is used. Undefined for `no-store`, with
 * which nothing is stored either.
 */
export function readMaxAge(cacheControl: string | null): number | undefined {
  let maxAgeS = Number.POSITIVE_INFINITY;
  if (cacheControl === null) return maxAgeS;
  for (const directive of cacheControl.toLowerCase().split(",")) {
    const [name = "", value = ""] = directive.split("=", 2).map((part) => part.trim());
    if (name === "no-store") return undefined;
    if (name === "no-cache") maxAgeS = 0;
    if (name === "max-age" && /^("?)\d+\1$/.test(value))
      maxAgeS = Math.min(maxAgeS, Number(value.replaceAll('"', "")));
  }
  return maxAgeS;
}

/** Computing the digest of a longer body would delay other requests. */
const maxRecognisedBytes = 64 * 1024;

/** Which completions of equal requests the caller accepts; undefined if none. */
function readSharing(
  { deployments, knownWorlds }: Pick<PredictionServices, "deployments" | "knownWorlds">,
  { request: { headers }, caller: { accountId } }: CallWithCaller,
  operation: "predict" | "chat",
  body: Uint8Array,
): Sharing | undefined {
  if (!deployments.areCached()) return undefined;
  const maxAgeS = readMaxAge(headers.get("cache-control"));
  if (maxAgeS === undefined) return undefined;
  if (body.length > maxRecognisedBytes) return { accountId, maxAgeS };
  // Everything besides the body that the request to the upstream is made from.
  const named = [headers.get(deploymentHeader), headers.get(worldHeader), knownWorlds.changes()];
  const besideBody = [deployments.revision(), operation, accountId, ...named];
  const bodyDigest = new Bun.CryptoHasher("sha256")
    .update(JSON.stringify(besideBody))
    .update(body)
    .digest("base64url");
  return { accountId, maxAgeS, bodyDigest };
}

/** The deployment that a request names: in its header, otherwise as its model. Undefined if it names none. */
function findNamedDeployment(deployments: Deployments, headers: Headers, model?: string | null) {
  const name = headers.get(deploymentHeader);
  if (name === null) return typeof model === "string" ? deployments.find(model) : undefined;
  const named = deployments.find(name);
  if (named !== undefined) return named;
  const names = deployments.all().map((one) => one.name);
  throw refusedHeader(
    deploymentHeader,
    `Input should be the name of a deployment: ${names.join(", ")}`,
    name,
  );
}
