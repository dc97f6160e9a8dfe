import type { Redis as RedisClient } from "ioredis";
import { type Logger, watchOutage } from "./observability/logger.ts";

/** The longest that the store may delay a call. */
const answerTimeoutMs = 50;
/** After a time-out, no command is sent for this long, so that not every call pays for it. */
const restMs = 500;
/** A connection that receives nothing for this long is given up. */
const silenceMs = 1_000;
const reconnectMs = 500;

/** A connection to Valkey or Redis, which processes share. It may be lost at any time, so every caller must manage without it. */
export type Redis = ReturnType<typeof connectRedis>;

/** Connects in the background, and again whenever the connection is lost. Logs when the store goes away, is late or refuses, and when it recovers. */
export function connectRedis(url: string, logger: Pick<Logger, "info" | "warn">) {
  const { Redis: Client } = redisLibrary();
  const client = new Client(url, {
    connectionName: "presage",
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    socketTimeout: silenceMs,
    connectTimeout: silenceMs,
    retryStrategy: () => reconnectMs,
  });
  const { refusals, delays, lies } = watchAnswers(logger);
  const connection = watchConnection(client, logger);
  let restUntilMs = 0;
  client.on("ready", () => {
    restUntilMs = 0;
  });

  /** Returns whether the store refused a command, and logs the refusal. */
  function noteRefusal(error: Error): boolean {
    if (error.name !== "ReplyError") return false;
    refusals.failed("", () => ({ reason: reasonOf(error) }));
    return true;
  }

  const isUp = () => client.status === "ready" && performance.now() >= restUntilMs;

  return {
    /** For a library that takes a client, to be called in `ask`. Commands fail immediately while the store is gone. */
    client,
    /** Whether the store is connected and has answered in time recently. */
    isUp,
    /** The answer to commands; undefined if there is none within 50 ms, the store refuses them, or the answer is not of the expected kind. */
    async ask<Answer>(
      command: (client: RedisClient) => Promise<unknown>,
      isAnswer: (reply: unknown) => reply is Answer,
    ): Promise<Answer | undefined> {
      if (!isUp()) return undefined;
      try {
        const reply = await inTime(command(client));
        refusals.responded();
        delays.responded();
        if (isAnswer(reply)) {
          lies.responded();
          return reply;
        }
        // Only its type is logged: the reply may contain anybody's text.
        lies.failed("", () => ({ type: Array.isArray(reply) ? "array" : typeof reply }));
        return undefined;
      } catch (error) {
        if (!(error instanceof Error)) throw error;
        if (error === tooLate) delays.failed("", () => ({ waitedMs: answerTimeoutMs }));
        if (!noteRefusal(error)) restUntilMs = performance.now() + restMs;
        return undefined;
      }
    },
    /** Sends a command without waiting for it, however long it takes; does nothing while the store is gone. */
    tell(command: (client: RedisClient) => Promise<unknown>): void {
      if (isUp()) command(client).catch(noteRefusal);
    },
    stop(): void {
      connection.stopWatching();
      client.disconnect();
    },
  };
}

/** Logs when the store goes away and when it is back. */
function watchConnection(client: RedisClient, logger: Pick<Logger, "warn">) {
  let isGone = false;
  let isStopped = false;
  let lastError: Error | undefined;
  client.on("error", (error: Error) => {
    lastError = error;
  });
  client.on("close", () => {
    if (isGone || isStopped) return;
    isGone = true;
    logger.warn(
      // A server that shuts down normally closes its connections without an error.
      { reason: lastError === undefined ? "the connection was closed" : reasonOf(lastError) },
      "Redis is unavailable; each process works by itself",
    );
  });
  client.on("ready", () => {
    lastError = undefined;
    if (!isGone) return;
    isGone = false;
    logger.warn("Redis is available again");
  });
  return {
    stopWatching() {
      isStopped = true;
    },
  };
}

function watchAnswers(logger: Pick<Logger, "warn">) {
  const alone = "each process works by itself";
  return {
    refusals: watchOutage(logger, {
      begins: "Redis refuses commands",
      ends: "Redis accepts commands again",
    }),
    delays: watchOutage(logger, {
      begins: `Redis answers too late; ${alone}`,
      ends: "Redis answers in time again",
    }),
    lies: watchOutage(logger, {
      begins: `Redis answers with what was not asked for; ${alone}`,
      ends: "Redis answers what was asked again",
    }),
  };
}

const tooLate = new Error("no answer in time");

/** Replaces the client's own time-out, which would also apply to the commands with which it connects. */
async function inTime<Answer>(pending: Promise<Answer>): Promise<Answer> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(tooLate), answerTimeoutMs);
  try {
    return await Promise.race([pending, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Redis repeats the arguments of a command that it does not know, which may be a password or a completion. */
function reasonOf({ message }: Error): string {
  return message.split(", with args", 1)[0] ?? "";
}

/** Loaded on first use: a server without Redis does not need it. */
function redisLibrary(): typeof import("ioredis") {
  return require("ioredis");
}

const timeoutMs = 3_000;

/** Connects once and asks for the version. Throws if there is no answer. */
export async function pingRedis(url: string): Promise<string> {
  const { Redis: Client } = redisLibrary();
  const client = new Client(url, {
    lazyConnect: true,
    connectTimeout: timeoutMs,
    commandTimeout: timeoutMs,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let reason: Error | undefined;
  client.on("error", (error: Error) => {
    reason = error;
  });
  try {
    await client.connect();
    const about = await client.info("server");
    return /^(?:valkey|redis)_version:(\S+)/m.exec(about)?.[1] ?? "of unknown version";
  } catch (error) {
    throw reason ?? error;
  } finally {
    client.disconnect();
  }
}
