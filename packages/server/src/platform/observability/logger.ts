import { once } from "node:events";
import { fstatSync } from "node:fs";
import pino, { type Logger } from "pino";
import { quoted } from "../words.ts";

const maxColumns = 120;

/** What the log says about a request. */
export interface RequestRecord {
  requestId: string;
  keyId: string | undefined;
  sessionId: string | undefined;
  method: string;
  route: string;
  status: number;
  totalMs: number;
  upstreamMs: number | undefined;
  promptTokens: number | undefined;
  completionTokens: number | undefined;
  /** Where a prediction came from, if it could have been cached. */
  cache: string | undefined;
  /** Why the request failed. */
  category: string | undefined;
}

/** What a line names in addition to the request; a worker only if there are several. */
interface RequestNames {
  keyName?: string | undefined;
  worker?: number | undefined;
}

/** A request on one line for people: `19:17:03 POST /v1/predict 200 42 ms 17→5 tokens "training"`, with its key's name at the end. */
export function requestLine(record: RequestRecord, { keyName, worker }: RequestNames, at: Date): string {
  const { method, route, status, category, totalMs, promptTokens, completionTokens } = record;
  const hasTokens = promptTokens !== undefined || completionTokens !== undefined;
  const parts = [
    at.toTimeString().slice(0, "HH:MM:SS".length),
    worker === undefined ? undefined : `worker ${worker}`,
    method,
    route,
    status,
    category,
    duration(totalMs),
    hasTokens ? `${promptTokens ?? "?"}→${completionTokens ?? "?"} tokens` : undefined,
    keyName === undefined ? undefined : quoted(keyName),
  ];
  const line = parts.filter((part) => part !== undefined).join(" ");
  return Bun.sliceAnsi(line, 0, maxColumns, "…");
}

function duration(totalMs: number): string {
  if (totalMs >= 10_000) return `${(totalMs / 1000).toFixed(1)} s`;
  return totalMs < 10 ? `${totalMs.toFixed(1)} ms` : `${Math.round(totalMs)} ms`;
}

export type { Logger };

/** Request lines are written in batches of this many characters, at least once a second. */
const usualBatchCharacters = 16 * 1024;
/** Writes of at most this length by several processes never mix in a pipe (PIPE_BUF). In a shared file, none mix. */
const atomicWriteCharacters = 4 * 1024;
const flushIntervalMs = 1_000;
const maxCloseMs = 5_000;

/** Bytes that may wait for a slow reader of standard output; beyond this, lines are dropped rather than the server blocked. */
const maxWaitingBytes = 64 * 1024 * 1024;

/** Loaded only for a terminal: it takes 3 MB. */
function readableLines() {
  const pretty: typeof import("pino-pretty") = require("pino-pretty");
  return pretty({ sync: true, translateTime: "SYS:HH:MM:ss", singleLine: true, ignore: "pid,hostname" });
}

export type Log = ReturnType<typeof createLog>;

/** Logs to standard output: JSON lines, or readable lines on a terminal. Workers share standard output, so each names itself. */
export function createLog(level: string, worker?: number) {
  const isReadable = process.stdout.isTTY;
  const mayMix = worker !== undefined && !fstatSync(1).isFile();
  const batchCharacters = mayMix ? atomicWriteCharacters : usualBatchCharacters;
  const file = pino.destination({
    fd: 1,
    sync: false,
    maxLength: maxWaitingBytes,
    maxWrite: batchCharacters,
  });
  const destination = isReadable ? readableLines() : file;
  let isFailing = false;
  file.on("error", ({ message }) => {
    if (!isFailing) process.stderr.write(`The log cannot be written: ${message}\n`);
    isFailing = true;
  });
  file.on("write", () => {
    isFailing = false;
  });
  let batch = "";
  let isClosed = false;

  function writeBatch(): void {
    if (batch === "") return;
    const lines = batch;
    batch = "";
    destination.write(lines);
  }

  // Writing another line first writes the pending request lines, so that the log is in order.
  const inOrder = {
    write(line: string) {
      if (isClosed) return;
      writeBatch();
      destination.write(line);
    },
  };
  const base = worker === undefined ? null : { worker };
  const ofWorker = worker === undefined ? "" : `,"worker":${worker}`;
  const serializers = { err: withoutRows };
  const logger = pino({ level, base, serializers, timestamp: pino.stdTimeFunctions.isoTime }, inOrder);
  const timeText = createTimeText();
  const store = watchDatabase(logger);
  setInterval(writeBatch, flushIntervalMs).unref();
  return {
    logger,
    /** Logs a request. There are too many of these lines to write each separately. A terminal shows the key's name. */
    request(record: RequestRecord, level: "info" | "debug", keyName: string | undefined): void {
      if (isClosed || !logger.isLevelEnabled(level)) return;
      if (isReadable)
        return void destination.write(`${requestLine(record, { keyName, worker }, new Date())}\n`);
      const head = `"level":${pino.levels.values[level]},"time":"${timeText()}"${ofWorker},"msg":"request"`;
      const line = `{${head},${JSON.stringify(record).slice(1)}\n`;
      if (batch.length + line.length > batchCharacters) writeBatch();
      batch += line;
    },
    /** To be called with each database failure; the first of an outage is logged. */
    storeFailed: store.failed,
    /** To be called after each successful statement; logs the end of an outage. */
    storeResponded: store.responded,
    /** Whether statements succeed: false from the first failure of an outage to its end. */
    isStoreUp: store.isUp,
    /** Writes what is pending. Nothing is logged afterwards. */
    async close(): Promise<void> {
      writeBatch();
      isClosed = true;
      const written = once(file, "close").catch(() => {});
      file.end();
      // A full disk, or a reader that has stopped reading or is gone, must not keep the process alive.
      if (!isFailing) await Promise.race([written, Bun.sleep(maxCloseMs)]);
      // At exit, the rest would otherwise be written again and again until it succeeds.
      file.destroy();
    },
  };
}

/** PostgreSQL's details may contain a row, and so the texts of a prediction. */
function withoutRows(error: unknown) {
  if (!(error instanceof Error)) return error;
  const { detail, where, internalQuery, ...shown } = pino.stdSerializers.err(error);
  return shown;
}

/** The time in every request line, formatted once a millisecond. */
function createTimeText() {
  let now = { atMs: 0, text: "" };
  return () => {
    const atMs = Date.now();
    if (atMs !== now.atMs) now = { atMs, text: new Date(atMs).toISOString() };
    return now.text;
  };
}

/** Some calls succeed during an outage; it is over when none has failed for this long. */
const quietMs = 10_000;

export type OutageWatch = ReturnType<typeof watchOutage>;

/**
 * Logs the start and the end of each outage instead of every failed call. An outage is over when a call succeeds and none has
 * failed for 10 s.
 */
export function watchOutage(
  logger: Pick<Logger, "warn">,
  words: { begins: string; ends: string; fields?: object },
) {
  let outage:
    | { sinceMs: number; lastFailureAtMs: number; workedAtMs?: number; failures: number; kinds: Set<string> }
    | undefined;
  return {
    /** Logs each kind of failure once per outage. There must be few kinds. */
    failed(kind: string, describe: () => object): void {
      const nowMs = performance.now();
      outage ??= { sinceMs: nowMs, lastFailureAtMs: nowMs, failures: 0, kinds: new Set() };
      outage.lastFailureAtMs = nowMs;
      delete outage.workedAtMs;
      outage.failures += 1;
      if (outage.kinds.has(kind)) return;
      outage.kinds.add(kind);
      logger.warn({ ...words.fields, ...describe() }, words.begins);
    },
    responded(): void {
      if (outage === undefined) return;
      const nowMs = performance.now();
      outage.workedAtMs ??= nowMs;
      if (nowMs - outage.lastFailureAtMs < quietMs) return;
      const { sinceMs, workedAtMs, failures } = outage;
      outage = undefined;
      const lastedMs = Math.round(workedAtMs - sinceMs);
      logger.warn({ ...words.fields, lastedMs, failures }, words.ends);
    },
    isUp: () => outage === undefined,
  };
}

/** Logs outages of the database. A database that rejects writes but still answers reads counts as one outage. */
export function watchDatabase(logger: Logger) {
  const { failed, responded, isUp } = watchOutage(logger, {
    begins: "database unavailable",
    ends: "database available again",
  });
  // Messages differ from statement to statement, so codes are the kinds of failure.
  const failedWith = (reason: ReturnType<typeof reasonOf>) => failed(reason.code ?? "", () => reason);
  return { failed: (error: unknown) => failedWith(reasonOf(error)), responded, isUp };
}

/** The database's own message and code, without the rest of its error: the details may contain a row. */
export function reasonOf(error: unknown): { reason: string; code: string | undefined } {
  if (error instanceof AggregateError && error.message === "") return reasonOf(error.errors[0]);
  if (!(error instanceof Error)) return { reason: String(error), code: undefined };
  if (error.cause instanceof Error) return reasonOf(error.cause);
  return { reason: error.message, code: "code" in error ? String(error.code) : undefined };
}
