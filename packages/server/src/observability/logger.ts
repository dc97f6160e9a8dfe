import pino, { type Logger } from "pino";
import pretty from "pino-pretty";

export type { Logger };

/** Bytes that are gathered before they are written; a partly filled buffer is written every second. */
const bufferBytes = 8 * 1024;
const flushIntervalMs = 1_000;

export interface Log {
  logger: Logger;
  /** Writes what is still in the buffer. */
  flush(): void;
}

/** One JSON object a line on standard output, or readable lines if that is a terminal. */
export function createLog(level: string): Log {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  if (process.stdout.isTTY) {
    return { logger: pino(options, pretty({ sync: true, translateTime: "SYS:HH:MM:ss.l" })), flush() {} };
  }
  const destination = pino.destination({
    fd: 1,
    sync: false,
    minLength: bufferBytes,
    periodicFlush: flushIntervalMs,
  });
  return { logger: pino(options, destination), flush: () => destination.flushSync() };
}
