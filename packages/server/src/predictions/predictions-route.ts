import {
  ChatCompletionRequest,
  OpenAiChatCompletionRequest,
  type OpenAiChatMessage,
  WorldModelRequest,
} from "@presage/contract";
import type { Services } from "../app/services.ts";
import type { CallWithCaller } from "../http/call.ts";
import { admit, countUsage, deploymentHeader } from "../http/exchange.ts";
import { reserveSentBody } from "../http/memory.ts";
import { readBodyBytes, readExactBytes } from "../http/request.ts";
import { eventStreamHeaders } from "../http/response.ts";
import { type Route, withCaller } from "../http/route.ts";
import { InvalidRequestError, missing, valueError } from "../http/validate.ts";
import { ServiceError } from "../platform/errors.ts";
import { reserveBytesAnyway } from "../platform/limits/memory.ts";
import type { Deployment, Deployments } from "../upstream/deployments.ts";
import { isObject } from "../upstream/failures.ts";
import type { CompletionBody, CompletionOptions, Sharing, UpstreamCompletion } from "../upstream/upstream.ts";
import { decideCapture, withCapture } from "./capture.ts";
import { measureCompletion, recordCompletion } from "./measure-completion.ts";
import {
  type ChatRequest,
  type Complete,
  completeChat,
  predict,
  readPrediction,
  setFields,
  withoutNulls,
} from "./predict.ts";

/** The second is that of SGLang's gateway. */
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
 * The cached completion for a body that had a hit before: its meaning is known without parsing it. Undefined if there is none, or if
 * the request has to be read for another reason: to capture or to trace it.
 */
function findCached(
  { deployments, capture }: Pick<Services, "deployments" | "capture">,
  call: CallWithCaller,
  sharing: Sharing | undefined,
): UpstreamCompletion | undefined {
  const { request, exchange } = call;
  if (sharing === undefined || exchange.span !== undefined) return undefined;
  if (decideCapture(capture, call) !== "off") return undefined;
  const name = request.headers.get(deploymentHeader);
  const asked = name === null ? deployments.getDefault() : deployments.find(name);
  const cached = asked?.upstream.findCached(sharing);
  if (cached === undefined) return undefined;
  readSessionHeader(request.headers);
  recordCompletion(exchange, cached);
  return cached;
}

/** The chat that OpenAI's clients mean, as the contract has it. Messages of tools, which it does not have, are forwarded. */
function fromOpenAi({ messages, stream_options: _, ...body }: OpenAiChatCompletionRequest): ChatRequest {
  return messages ? { ...body, messages: messages.map(fromOpenAiMessage) } : body;
}

function fromOpenAiMessage({ role, content, ...message }: OpenAiChatMessage) {
  return {
    role: role === "developer" ? "system" : role,
    ...(content === undefined ? {} : { content: textOf(content) }),
    ...withoutNulls(message),
  };
}

/** Model servers join the parts of a text in this way too. */
function textOf(content: NonNullable<OpenAiChatMessage["content"]> | null): string | null {
  return Array.isArray(content) ? content.map(({ text }) => text).join("\n") : content;
}

/** A finished completion as the events of a stream: a chunk for each choice, the usage if it is asked for and known, and the end. */
function streamedChat({ bytes }: UpstreamCompletion, includesUsage: boolean): Response {
  // Of a completion from the cache, `body` has only a part.
  const { choices, usage, ...head } = JSON.parse(new TextDecoder().decode(bytes)) as CompletionBody;
  const event = (more: object) =>
    `data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", ...more })}\n\n`;
  const events = choices.filter(isObject).map(({ message, ...choice }, index) =>
    event({
      choices: [{ index, ...choice, delta: toDelta(message) }],
      ...(includesUsage ? { usage: null } : {}),
    }),
  );
  if (includesUsage && usage) events.push(event({ choices: [], usage }));
  return new Response(`${events.join("")}data: [DONE]\n\n`, { headers: eventStreamHeaders });
}

/** In a stream, calls of tools are numbered. */
function toDelta(message: Record<string, unknown>): Record<string, unknown> {
  const { tool_calls: calls } = message;
  const numbered = Array.isArray(calls)
    ? { tool_calls: calls.map((call: object, index) => ({ index, ...call })) }
    : {};
  return { role: "assistant", ...message, ...numbered };
}

/**
 * How old a kept response may be for this `Cache-Control` of a request, in seconds; 0: none is taken. Undefined for `no-store`, with
 * which nothing is kept either.
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

/** Making the digest of a longer body would delay other requests. */
const maxRecognisedBytes = 64 * 1024;

/** Which completions of equal requests the caller takes; undefined: none. */
function readSharing(
  deployments: Deployments,
  { request: { headers }, caller: { accountId } }: CallWithCaller,
  operation: "predict" | "chat",
  body: Uint8Array,
): Sharing | undefined {
  if (!deployments.areCached()) return undefined;
  const maxAgeS = readMaxAge(headers.get("cache-control"));
  if (maxAgeS === undefined) return undefined;
  if (body.length > maxRecognisedBytes) return { accountId, maxAgeS };
  // Everything that the request to the upstream is made from.
  const besideBody = [deployments.revision(), operation, accountId, headers.get(deploymentHeader)];
  const bodyDigest = new Bun.CryptoHasher("sha256")
    .update(JSON.stringify(besideBody))
    .update(body)
    .digest("base64url");
  return { accountId, maxAgeS, bodyDigest };
}

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
