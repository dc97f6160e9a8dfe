import WebSocket from "ws-of-npm";
import { z } from "zod";
import { orAborted } from "../../platform/limits/deadline.ts";
import { faultOfStatus, maxMessageBytes, observationOf, readAnswer } from "./http.ts";
import {
  type OpenExchange,
  RealEnvironmentError,
  tooLarge,
  unlikeProtocol,
  unreachable,
} from "./real-environment.ts";
import { fill } from "./template.ts";

const Reply = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("observation"),
    data: z.object({
      observation: z.unknown(),
      reward: z.union([z.number(), z.boolean().transform(Number)]).nullish(),
      done: z.boolean().default(false),
    }),
  }),
  z.object({ type: z.literal("error"), data: z.object({ code: z.string().optional().catch(undefined) }) }),
]);

/** The protocol's codes of a server that has no episode to give, now or at all. */
const closed = ["CAPACITY_REACHED", "FACTORY_ERROR", "SESSION_ERROR"];

/** OpenEnv: one WebSocket is one episode. */
export const openOpenEnv: OpenExchange = async (settings, task, signal) => {
  const { apiKey } = settings;
  const reset = fill(settings.reset, task);
  const headers: Record<string, string> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  const socket = await openWebSocket(`${settings.url}/ws`, headers, signal);

  async function say(type: "reset" | "step", data: unknown, signal: AbortSignal) {
    const reply = readAnswer(await socket.ask(JSON.stringify({ type, data }), signal), Reply);
    if (reply.type === "error") throw refusal(reply.data.code);
    const { observation, reward, done } = reply.data;
    return { observation: observationOf(observation, settings), reward: reward ?? null, done };
  }

  const { observation: first } = await say("reset", reset, signal).catch((error: unknown) => {
    socket.abort();
    throw error;
  });
  return {
    first,
    step: (action, signal) => say("step", fill(settings.action, task, action), signal),
    close: (signal) => socket.close(JSON.stringify({ type: "close" }), signal),
  };
};

function refusal(code: string | undefined): RealEnvironmentError {
  if (code !== undefined && closed.includes(code))
    return new RealEnvironmentError("unavailable", `The real environment has no episode to give (${code}).`);
  return new RealEnvironmentError("refused", "The real environment refused the message.");
}

/** Of one message; servers send few. */
const maxFragments = 4_096;

/** A WebSocket on which each message has one answer. */
interface AskingSocket {
  ask(message: string, signal: AbortSignal): Promise<string>;
  /** Says a last word, and waits for the other side to close it. */
  close(message: string, signal: AbortSignal): Promise<void>;
  abort(): void;
}

async function openWebSocket(
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
