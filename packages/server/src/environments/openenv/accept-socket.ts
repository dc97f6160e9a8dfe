import type { Services } from "../../app/services.ts";
import { answerInOrder } from "../../http/answer-in-order.ts";
import { keyOfProgram } from "../../http/authenticate.ts";
import type { CallWithCaller } from "../../http/route.ts";
import { closeCode } from "../../http/socket.ts";
import { ServiceError } from "../../platform/errors.ts";
import { idleMs } from "../episodes/episode.ts";
import { answerMessage, toError } from "./answer-message.ts";
import type { Conversation } from "./conversation.ts";

const traceHeaders = ["traceparent", "tracestate"];

/** Switches the connection to a WebSocket, on which one episode at a time is played. */
export function acceptSocket(
  services: Services,
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
    // As OpenEnv's server does it: its client shows what was said before the socket was closed.
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
  throw new ServiceError("unsupported", "The request is not one of RFC 6455 for a WebSocket.");
}

/** A request's headers would keep the request in memory. */
function only(headers: Headers, names: readonly string[]): Headers {
  const kept = new Headers();
  for (const name of names) {
    const value = headers.get(name);
    if (value !== null) kept.set(name, value);
  }
  return kept;
}
