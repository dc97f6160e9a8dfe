import type { OpenEnvErrorCode, ValidationError } from "@presage/contract";
import { keyOfProgram } from "../../http/authenticate.ts";
import type { CallWithCaller } from "../../http/call.ts";
import { type Caller, checkAccess, notAuthenticated } from "../../http/caller.ts";
import { errorResponse, inWords } from "../../http/errors.ts";
import { type Exchange, type HttpServices, openExchange, recordWork } from "../../http/exchange.ts";
import { readJsonBytes } from "../../http/request.ts";
import { answerInOrder, closeCode, type OpenSockets, type Reply } from "../../http/sockets.ts";
import { InvalidRequestError } from "../../http/validate.ts";
import { ClientDisconnectedError, ServiceError, UpstreamError } from "../../platform/errors.ts";
import { orLate, withDeadline } from "../../platform/limits/deadline.ts";
import { reserveBytesAnyway } from "../../platform/limits/memory.ts";
import { isStoreUnavailable, isStoreUncertain } from "../../platform/storage/store-error.ts";
import { isObject } from "../../platform/words.ts";
import { idleMs } from "../episodes/episode.ts";
import {
  type Conversation,
  type MessageCall,
  type MessageServices,
  resetEpisode,
  showState,
  takeStep,
} from "./play-episode.ts";

export interface SocketServices extends HttpServices, MessageServices {
  sockets: Pick<OpenSockets, "add">;
  keyVerifier: { verify(key: string): Caller | undefined | Promise<Caller | undefined> };
}

/** OpenEnv's client gives up after 60 s. Older clients would then mistake a late answer for the reply to their next message. */
const deadlineMs = 50_000;
/** Only a stalled database takes longer than the deadline: whether the step is stored is unknown until the client is back. */
const latestMs = 57_000;

/** Handles a message until its deadline, when the work's signal is aborted. */
export function untilDeadline<Value>(
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Value>,
  timeoutMs = deadlineMs,
): Promise<Value> {
  return withDeadline({ timeoutMs, timeoutError, signal }, async (aborted) => {
    try {
      return await work(aborted);
    } catch (error) {
      // Calls take every abort for a disconnect of their client.
      throw error instanceof ClientDisconnectedError && aborted.aborted ? aborted.reason : error;
    }
  });
}

function timeoutError(timeoutMs: number): UpstreamError {
  return new UpstreamError(
    "timeout",
    `There was no answer within ${timeoutMs / 1000} s. Send the message again.`,
  );
}

/** A client's message, whose data are not validated yet. */
type Message =
  | { type: "reset"; data: unknown }
  | { type: "step"; data: unknown; bytes: number }
  | { type: "state" }
  | { type: "close" };

/** A type of message that OpenEnv or Presage does not have. */
class UnknownMessageError extends ServiceError {
  constructor(type: unknown) {
    const named = typeof type === "string" ? JSON.stringify(type.slice(0, 100)) : "none";
    super("unsupported", `Unknown message type: ${named}. Send reset, step, state or close.`);
  }
}

/** A message from its frame. Throws if it is not a JSON object of a known type. */
async function readMessage(frame: string | Buffer): Promise<Message> {
  if (typeof frame !== "string") throw invalid("json_invalid", "Messages are text, not bytes");
  const bytes = Buffer.from(frame);
  const { plain: message } = await readJsonBytes(bytes);
  if (!isObject(message)) throw invalid("model_attributes_type", "A message is a JSON object");
  const { type, data } = message;
  if (type === "reset") return { type, data };
  if (type === "step") return { type, data, bytes: bytes.length };
  if (type === "state" || type === "close") return { type };
  throw new UnknownMessageError(type);
}

function invalid(type: string, msg: string): InvalidRequestError {
  return new InvalidRequestError([{ type, loc: ["body"], msg }]);
}

const unknown: Reply = {
  close: { code: closeCode.failed, reason: "It is not known whether the step was stored." },
};
/** Whether a late step is stored is unknown until the client asks again. */
const late: Reply = { close: { code: closeCode.failed, reason: "There was no answer in time." } };

/** Answers one message, in time. Failures are answered with an error, never with an observation. */
async function answerMessage(
  services: SocketServices,
  conversation: Conversation,
  frame: string | Buffer,
  signal: AbortSignal,
): Promise<Reply> {
  const message = await readMessage(frame).catch((error: unknown) => ({ type: "other" as const, error }));
  if (message.type === "close") {
    services.metrics.openEnvMessages(["close", "ok"]);
    return { close: { code: closeCode.normal, reason: "" } };
  }
  const answer = answerInTime(services, conversation, message, signal);
  const reply = await orLate(answer, late, latestMs);
  if (reply === late) void answer.then(({ onRead }) => onRead?.());
  return reply;
}

async function answerInTime(
  services: SocketServices,
  conversation: Conversation,
  message: Exclude<Message, { type: "close" }> | { type: "other"; error: unknown },
  signal: AbortSignal,
): Promise<Reply> {
  const { type } = message;
  const method = type.toUpperCase();
  const exchange = openExchange(services, { method, headers: conversation.headers });
  const deadlineAtMs = exchange.startedAtMs + deadlineMs;
  const onRead = () => reserveBytesAnyway(exchange, 0);
  let status = 200;
  let outcome = "ok";
  try {
    const caller = await authenticate(services, conversation, exchange);
    if (message.type === "other") throw message.error;
    const known = message;
    const data = await untilDeadline(signal, (aborted) => {
      const requester = { accountId: caller.accountId, signal: aborted };
      return handle(services, conversation, known, { exchange, caller, requester, deadlineAtMs });
    });
    return { text: JSON.stringify({ type: type === "state" ? "state" : "observation", data }), onRead };
  } catch (error) {
    const failed = describe(services, error, exchange);
    status = failed.status;
    outcome = error instanceof ClientDisconnectedError ? "disconnected" : failed.code.toLowerCase();
    // An error message would make the client take the step again, and so twice.
    const isUnknown = type === "step" && isStoreUncertain(error);
    return { ...(isUnknown ? unknown : failed.reply), onRead };
  } finally {
    exchange.atEnd?.();
    const totalMs = performance.now() - exchange.startedAtMs;
    services.metrics.openEnvMessages([type, outcome]);
    recordWork(services, exchange, { method, route: conversation.path, status, totalMs });
  }
}

async function authenticate({ keyVerifier }: SocketServices, { key }: Conversation, exchange: Exchange) {
  const caller = await keyVerifier.verify(key);
  if (caller === undefined) throw notAuthenticated();
  if (caller.proof.kind === "key") {
    exchange.keyId = caller.proof.keyId;
    exchange.keyName = caller.proof.keyName;
  }
  checkAccess(caller, "predict");
  return caller;
}

async function handle(
  services: SocketServices,
  conversation: Conversation,
  message: Exclude<Message, { type: "close" }>,
  call: MessageCall,
): Promise<object> {
  if (message.type === "reset") return await resetEpisode(services, conversation, message.data, call);
  if (message.type === "step") return await takeStep(services, conversation, message, call);
  return await showState(services, conversation, call);
}

/** An error in the form that OpenEnv's clients read. */
function toError(data: { code: OpenEnvErrorCode; message: string; errors?: ValidationError[] }): string {
  return JSON.stringify({ type: "error", data });
}

function describe(
  { log }: SocketServices,
  error: unknown,
  exchange: Exchange,
): { status: number; code: OpenEnvErrorCode; reply: Reply } {
  const { requestId } = exchange;
  const { status, body, category, code: reason, isUnexpected } = errorResponse(error, requestId);
  if (category !== undefined) exchange.category = category;
  if (isUnexpected) log.logger.error({ requestId, err: error }, "unexpected error");
  if (isStoreUnavailable(error)) log.storeFailed(error);
  if (error instanceof InvalidRequestError) {
    const [issue] = error.issues;
    const code = issue?.type === "json_invalid" ? "INVALID_JSON" : "VALIDATION_ERROR";
    const message = `Invalid message: ${issue === undefined ? "" : wordsOf(issue)}`;
    return { status, code, reply: { text: toError({ code, message, errors: error.issues }) } };
  }
  const message = inWords(body.detail);
  const isRefused = reason === "unauthenticated" || reason === "forbidden";
  const isUnknown = error instanceof UnknownMessageError;
  const code = isRefused ? "SESSION_ERROR" : isUnknown ? "UNKNOWN_TYPE" : "EXECUTION_ERROR";
  const text = toError({ code, message });
  if (!isRefused) return { status, code, reply: { text } };
  const why = reason === "forbidden" ? "may no longer play" : "is no longer valid";
  const close = { code: closeCode.refused, reason: `The API key ${why}.` };
  return { status, code, reply: { text, close } };
}

function wordsOf({ loc, msg, ctx }: ValidationError): string {
  const { error } = ctx ?? {};
  const reason = typeof error === "string" && !msg.endsWith(error) ? `${msg}: ${error}` : msg;
  const place = loc.slice(1).join(".");
  return place === "" ? reason : `${place}: ${reason}`;
}

const traceHeaders = ["traceparent", "tracestate"];

/** Switches the connection to a WebSocket that plays one episode at a time. */
export function acceptSocket(
  services: SocketServices,
  { request, server, caller }: CallWithCaller,
  { environment, path }: Pick<Conversation, "environment" | "path">,
): Response {
  const { headers } = request;
  if (headers.get("upgrade")?.toLowerCase() !== "websocket")
    throw new ServiceError(
      "unsupported",
      "This address is a WebSocket; connect to it with a client of OpenEnv.",
    );
  if (services.phase() === "stopping") throw new ServiceError("overloaded", "The server is stopping.");
  const conversation: Conversation = {
    environment,
    path,
    key: keyOfProgram(headers),
    headers: only(headers, traceHeaders),
    episode: undefined,
  };
  let leave = () => {};
  let refusal: string | undefined;
  const socket = answerInOrder({
    answer: (message, signal) => answerMessage(services, conversation, message, signal),
    idleMs,
    // As OpenEnv's server does: its client shows the message that came before the close.
    onOpen: () =>
      refusal === undefined
        ? undefined
        : { text: refusal, close: { code: closeCode.tryAgainLater, reason: "Too many sockets." } },
    onClose: () => leave(),
  });
  try {
    leave = services.sockets.add(caller.accountId, socket);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    refusal = toError({ code: "CAPACITY_REACHED", message: error.message });
  }
  if (server.upgrade(request, { data: socket })) return new Response(null, { status: 101 });
  socket.closed();
  throw new ServiceError("unsupported", "The request is not a WebSocket handshake (RFC 6455).");
}

/** Copies a few headers, because the request's own `Headers` would keep the request in memory. */
function only(headers: Headers, names: readonly string[]): Headers {
  const kept = new Headers();
  for (const name of names) {
    const value = headers.get(name);
    if (value !== null) kept.set(name, value);
  }
  return kept;
}
