import { ChatCompletionRequest, OpenAiChatCompletionRequest, WorldModelRequest } from "@presage/contract";
import type { Services } from "../app/services.ts";
import { admit, countUsage, deploymentHeader } from "../http/exchange.ts";
import { missing } from "../http/pydantic-issues.ts";
import { readBodyBytes, readExactBytes } from "../http/read-request.ts";
import { reserveSentBody } from "../http/reserve-memory.ts";
import { type CallWithCaller, type Route, withCaller } from "../http/route.ts";
import { InvalidRequestError } from "../http/validate.ts";
import { ServiceError } from "../platform/errors.ts";
import { reserveBytesAnyway } from "../platform/limits/byte-budget.ts";
import type { Deployment, Deployments } from "../upstream/deployments.ts";
import type { Sharing, UpstreamCompletion } from "../upstream/upstream.ts";
import { withCapture } from "./capture-prediction.ts";
import { type ChatRequest, completeChat, setFields } from "./complete-chat.ts";
import { findCached } from "./find-cached-completion.ts";
import { measureCompletion } from "./measure-completion.ts";
import { fromOpenAi, streamedChat } from "./openai-chat.ts";
import { type Complete, predict, readPrediction } from "./predict.ts";
import { readSessionHeader, refusedHeader } from "./read-session-header.ts";
import { readSharing } from "./read-sharing.ts";

/** A chat, and how its completion is sent. */
interface ReadChat {
  body: ChatRequest;
  respond(completion: UpstreamCompletion): Response;
}

export function predictionRoutes(services: Services): Route[] {
  const { deployments, admission, settings, capture } = services;
  const { debugFields, maxBodyBytes } = settings;
  const isStrict = settings.chatCompatibility === "strict";

  function completeBy(
    named: Deployment | undefined,
    call: CallWithCaller,
    body: ChatRequest,
    sharing: Sharing | undefined,
  ): Complete {
    const { request, exchange } = call;
    const { name, upstream } = named ?? deployments.getDefault();
    const session = readSessionHeader(request.headers);
    const complete = measureCompletion(upstream.complete, exchange, { session, sharing });
    return withCapture(capture, call, body, name, complete);
  }

  /** A model that is a deployment's name is replaced by the model of the deployment that is asked. */
  function withoutDeployment(body: ChatRequest): ChatRequest {
    const { model } = body;
    if (typeof model !== "string" || deployments.find(model) === undefined) return body;
    const { model: _, ...rest } = body;
    return rest;
  }

  async function readChat(call: CallWithCaller, bytes: Uint8Array): Promise<ReadChat> {
    if (isStrict) {
      const body = await readExactBytes(call, ChatCompletionRequest, bytes);
      refuseStreaming(body.stream);
      return { body, respond: chatResponse };
    }
    const sent = await readExactBytes(call, OpenAiChatCompletionRequest, bytes);
    const includesUsage = sent.stream_options?.include_usage === true;
    const respond = sent.stream
      ? (completion: UpstreamCompletion) => streamedChat(completion, includesUsage)
      : chatResponse;
    return { body: fromOpenAi(sent), respond };
  }

  return [
    withCaller("POST", "/v1/predict", "predict", async (call) => {
      const { request, exchange } = call;
      countUsage(call, "predict");
      await admit(admission, call);
      const bytes = await readBodyBytes(call, maxBodyBytes);
      const sharing = readSharing(deployments, call, "predict", bytes);
      const cached = debugFields ? undefined : findCached(services, call, sharing);
      if (cached !== undefined) return Response.json(readPrediction(cached.body));
      const body = await readExactBytes(call, WorldModelRequest, bytes);
      refuseStreaming(body.params?.stream);
      const named = findNamedDeployment(deployments, request.headers);
      const { prediction, messages } = predict(completeBy(named, call, body, sharing), body, request.signal);
      if (!debugFields) {
        reserveSentBody(exchange);
        return Response.json(await prediction);
      }
      const { reservedBytes } = exchange;
      const response = { ...(await prediction), messages };
      reserveBytesAnyway(exchange, exchange.reservedBytes + reservedBytes);
      return Response.json(response);
    }),
    withCaller("POST", "/v1/chat/completions", "predict", async (call) => {
      const { request, exchange } = call;
      countUsage(call, "chat");
      await admit(admission, call);
      const bytes = await readBodyBytes(call, maxBodyBytes);
      const sharing = readSharing(deployments, call, "chat", bytes);
      // A body has to be read for whether it asks for a stream.
      const cached = isStrict ? findCached(services, call, sharing) : undefined;
      if (cached !== undefined) return chatResponse(cached);
      const { body, respond } = await readChat(call, bytes);
      refuseStreaming(body.params?.stream);
      refuseIncomplete(body);
      const named = findNamedDeployment(deployments, request.headers, body.model);
      if ((named ?? deployments.getDefault()).isSandbox) refuseIgnored(body);
      const complete = completeBy(named, call, body, sharing);
      const completion = completeChat(complete, withoutDeployment(body), request.signal);
      reserveSentBody(exchange);
      return respond(await completion);
    }),
  ];
}

function chatResponse({ bytes }: UpstreamCompletion): Response {
  return new Response(bytes, { headers: { "content-type": "application/json" } });
}

function refuseStreaming(stream: unknown): void {
  if (stream === true) throw new ServiceError("unsupported", "Streaming is not supported.");
}

/** The sandbox would answer as if these had not been sent. */
function refuseIgnored(request: ChatRequest): void {
  const { n, tools, response_format: format } = setFields(request);
  const ignored = {
    "`n` above 1": Number(n ?? 1) > 1,
    "`tools`": Array.isArray(tools) && tools.length > 0,
    "`response_format`": isGiven(format) && Object(format).type !== "text",
  };
  const names = Object.entries(ignored).flatMap(([name, isSet]) => (isSet ? [name] : []));
  if (names.length === 0) return;
  throw new ServiceError("unsupported", `The sandbox is no language model: it has no ${names.join(", ")}.`);
}

/** Each of the two modes needs a field, which the schema cannot express. */
function refuseIncomplete(request: ChatRequest): void {
  const isStructured = isGiven(request.context) || isGiven(request.interaction);
  const isComplete = isStructured ? isGiven(request.interaction) : (request.messages ?? []).length > 0;
  if (isComplete) return;
  throw new InvalidRequestError([missing(["body", isStructured ? "interaction" : "messages"], request)]);
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** The deployment that a request names: in its header, otherwise as its model. Undefined if it names none. */
function findNamedDeployment(
  deployments: Deployments,
  headers: Headers,
  model?: string | null,
): Deployment | undefined {
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
