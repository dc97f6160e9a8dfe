import pino, { type Logger } from "pino";
import { watchStore } from "./watch-store.ts";

export type { Logger };

/** Characters of request lines that are gathered before they are written; what there is is written every second. */
const batchCharacters = 16 * 1024;
const flushIntervalMs = 1_000;

export interface Log {
  logger: Logger;
  /** Writes one line of level info about a request. There are too many of them to write each one by itself. */
  request(record: Readonly<Record<string, unknown>>): void;
  /** Hears of each failure of the store, and says why once an outage. */
  storeFailed(error: unknown): void;
  /** Hears of what the store answers, and says when an outage is over. */
  storeAnswered(): void;
  /** Writes what is still gathered. */
  flush(): void;
}

/** Bytes that wait for a reader of standard output that is slow; past them lines are dropped, never the server held up. */
const maxWaitingBytes = 64 * 1024 * 1024;

/** Loaded only where somebody reads along: it takes 3 MB. */
function readableLines() {
  const pretty: typeof import("pino-pretty") = require("pino-pretty");
  return pretty({ sync: true, translateTime: "SYS:HH:MM:ss.l", singleLine: true, ignore: "pid,hostname" });
}

/** One JSON object a line on standard output, or readable lines if that is a terminal. */
export function createLog(level: string): Log {
  const isReadable = process.stdout.isTTY;
  const file = pino.destination({ fd: 1, sync: false, maxLength: maxWaitingBytes });
  const destination = isReadable ? readableLines() : file;
  let batch = "";

  function writeBatch(): void {
    if (batch === "") return;
    const lines = batch;
    batch = "";
    destination.write(lines);
  }

  // Every other line first writes the request lines that came before it, so that the log is in order.
  const inOrder = {
    write(line: string) {
      writeBatch();
      destination.write(line);
    },
  };
  const logger = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, inOrder);
  const infoLevel = pino.levels.values.info;
  let head = { atMs: 0, text: "" };

  /** What every request line begins with; a date is written out once a millisecond. */
  function lineHead(): string {
    const atMs = Date.now();
    if (atMs === head.atMs) return head.text;
    head = { atMs, text: `{"level":${infoLevel},"time":"${new Date(atMs).toISOString()}",` };
    return head.text;
  }

  const store = watchStore(logger);
  setInterval(writeBatch, flushIntervalMs).unref();
  return {
    logger,
    request(record) {
      if (!logger.isLevelEnabled("info")) return;
      batch += `${lineHead()}"msg":"request",${JSON.stringify(record).slice(1)}\n`;
      if (isReadable || batch.length >= batchCharacters) writeBatch();
    },
    storeFailed: store.failed,
    storeAnswered: store.answered,
    flush() {
      writeBatch();
      file.flushSync();
    },
  };
}
