// Bun puts its own client, which takes whole messages of up to 128 MB, in the place of a package named ws.
import WebSocket from "ws-of-npm";
import { orAborted } from "../../platform/limits/deadline.ts";
import { faultOfStatus, maxMessageBytes } from "./http.ts";
import { type RealEnvironmentError, tooLarge, unlikeProtocol, unreachable } from "./real-environment.ts";

/** Of one message; servers send few. */
const maxFragments = 4_096;

/** A WebSocket on which each message has one answer. */
export interface AskingSocket {
  ask(message: string, signal: AbortSignal): Promise<string>;
  /** Says a last word, and waits for the other side to close it. */
  close(message: string, signal: AbortSignal): Promise<void>;
  abort(): void;
}

export async function openWebSocket(
  url: string,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<AskingSocket> {
  const limits = { maxPayload: maxMessageBytes, maxFragments };
  const socket = new WebSocket(url, { headers, ...limits, perMessageDeflate: false });
  const opened = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  let answer = Promise.withResolvers<string>();
  let isAwaited = true;
  let hasAsked = false;
  let failure: RealEnvironmentError | undefined;

  function fail(reason: RealEnvironmentError): void {
    failure ??= reason;
    socket.terminate();
    for (const { promise, reject } of [opened, answer]) {
      promise.catch(() => {});
      reject(failure);
    }
  }

  async function orFail<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
    try {
      return await orAborted(work, signal);
    } catch (error) {
      fail(unreachable());
      throw signal.aborted ? error : failure;
    }
  }

  socket.on("open", opened.resolve);
  socket.on("unexpected-response", (_, { statusCode = 0 }) =>
    fail(faultOfStatus(statusCode) ?? unlikeProtocol()),
  );
  socket.on("message", (bytes, isBinary) => {
    // One that nobody asked for would be taken for the answer to what comes next.
    if (isBinary || !isAwaited) return fail(unlikeProtocol());
    isAwaited = false;
    answer.resolve(String(bytes));
  });
  socket.on("error", (error) => fail(toFailure(error)));
  socket.on("close", () => {
    fail(unreachable());
    closed.resolve();
  });
  await orFail(opened.promise, signal);
  return {
    async ask(message, signal) {
      // A server without room says so before it is asked.
      if (hasAsked) {
        if (failure !== undefined) throw failure;
        answer = Promise.withResolvers();
        isAwaited = true;
      }
      hasAsked = true;
      socket.send(message);
      return await orFail(answer.promise, signal);
    },
    async close(message, signal) {
      socket.send(message);
      await orFail(closed.promise, signal);
    },
    abort: () => fail(unreachable()),
  };
}

function toFailure({ code = "", message }: NodeJS.ErrnoException): RealEnvironmentError {
  if (code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH" || code === "WS_ERR_TOO_MANY_BUFFERED_PARTS")
    return tooLarge();
  // Of the answer to the handshake there is no code.
  return /^WS_ERR_/.test(code) || /^(Invalid|Server sent) /.test(message) ? unlikeProtocol() : unreachable();
}
