import type { OpenEnvErrorCode, ValidationError } from "@presage/contract";
import type { Services } from "../../app/services.ts";
import { checkAccess } from "../../http/access.ts";
import type { Reply } from "../../http/answer-in-order.ts";
import { type Caller, notAuthenticated } from "../../http/caller.ts";
import { errorResponse } from "../../http/errors.ts";
import { type Exchange, openExchange, recordWork } from "../../http/exchange.ts";
import { closeCode } from "../../http/socket.ts";
import { InvalidRequestError } from "../../http/validate.ts";
import { ClientDisconnectedError } from "../../platform/errors.ts";
import { reserveBytesAnyway } from "../../platform/limits/byte-budget.ts";
import { isStoreUnavailable, isStoreUncertain } from "../../platform/storage/store-error.ts";
import type { Conversation, MessageCall } from "./conversation.ts";
import { deadlineMs, orLate, untilDeadline } from "./message-deadline.ts";
import { type Message, readMessage, UnknownMessageError } from "./read-message.ts";
import { resetEpisode } from "./reset-episode.ts";
import { showState } from "./show-state.ts";
import { takeStep } from "./take-step.ts";

const unknown: Reply = {
  close: { code: closeCode.failed, reason: "It is not known whether the step was stored." },
};
/** Whether a late step is stored is not known until the client asks again. */
const late: Reply = { close: { code: closeCode.failed, reason: "There was no answer in time." } };

/** Answers one message, in time. What fails is answered with an error, and never with an observation. */
export async function answerMessage(
  services: Services,
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
  const reply = await orLate(answer, late);
  if (reply === late) void answer.then(({ onRead }) => onRead?.());
  return reply;
}

async function answerInTime(
  services: Services,
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
    // The client would take the step again, and so twice.
    const isUnknown = type === "step" && isStoreUncertain(error);
    return { ...(isUnknown ? unknown : failed.reply), onRead };
  } finally {
    exchange.atEnd?.();
    const totalMs = performance.now() - exchange.startedAtMs;
    services.metrics.openEnvMessages([type, outcome]);
    recordWork(services, exchange, { method, route: conversation.path, status, totalMs });
  }
}

async function authenticate(
  { identity }: Services,
  { key }: Conversation,
  exchange: Exchange,
): Promise<Caller> {
  const caller = await identity.keyVerifier.verify(key);
  if (caller === undefined) throw notAuthenticated();
  if (caller.proof.kind === "key") {
    exchange.keyId = caller.proof.keyId;
    exchange.keyName = caller.proof.keyName;
  }
  checkAccess(caller, "predict");
  return caller;
}

async function handle(
  services: Services,
  conversation: Conversation,
  message: Exclude<Message, { type: "close" }>,
  call: MessageCall,
): Promise<object> {
  if (message.type === "reset") return await resetEpisode(services, conversation, message.data, call);
  if (message.type === "step") return await takeStep(services, conversation, message, call);
  return await showState(services, conversation, call);
}

/** An error as OpenEnv's clients read it. */
export function toError(data: {
  code: OpenEnvErrorCode;
  message: string;
  errors?: ValidationError[];
}): string {
  return JSON.stringify({ type: "error", data });
}

function describe(
  { log }: Services,
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
  const message = String(body.detail);
  if (error instanceof UnknownMessageError)
    return { status, code: "UNKNOWN_TYPE", reply: { text: toError({ code: "UNKNOWN_TYPE", message }) } };
  if (reason !== "unauthenticated" && reason !== "forbidden")
    return {
      status,
      code: "EXECUTION_ERROR",
      reply: { text: toError({ code: "EXECUTION_ERROR", message }) },
    };
  const why = reason === "forbidden" ? "may not play" : "is not valid";
  const close = { code: closeCode.refused, reason: `The API key ${why} any more.` };
  return {
    status,
    code: "SESSION_ERROR",
    reply: { text: toError({ code: "SESSION_ERROR", message }), close },
  };
}

function wordsOf({ loc, msg, ctx }: ValidationError): string {
  const { error } = ctx ?? {};
  const reason = typeof error === "string" && !msg.endsWith(error) ? `${msg}: ${error}` : msg;
  const place = loc.slice(1).join(".");
  return place === "" ? reason : `${place}: ${reason}`;
}
