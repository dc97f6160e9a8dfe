import pino, { type Logger } from "pino";
import pretty from "pino-pretty";

export type { Logger };

/** Characters of request lines that are gathered before they are written; what there is is written every second. */
const batchCharacters = 16 * 1024;
const flushIntervalMs = 1_000;

export interface Log {
  logger: Logger;
  /** Writes one line of level info about a request. There are too many of them to write each one by itself. */
  request(record: Readonly<Record<string, unknown>>): void;
  /** Writes what is still gathered. */
  flush(): void;
}

/** One JSON object a line on standard output, or readable lines if that is a terminal. */
export function createLog(level: string): Log {
  const isReadable = process.stdout.isTTY;
  const destination = isReadable
    ? pretty({ sync: true, translateTime: "SYS:HH:MM:ss.l" })
    : pino.destination({ fd: 1, sync: true });
  const logger = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
  const infoLevel = pino.levels.values.info;
  let batch = "";

  function flush(): void {
    if (batch === "") return;
    const lines = batch;
    batch = "";
    destination.write(lines);
  }

  setInterval(flush, flushIntervalMs).unref();
  return {
    logger,
    request(record) {
      if (!logger.isLevelEnabled("info")) return;
      const line = { level: infoLevel, time: new Date().toISOString(), ...record, msg: "request" };
      batch += `${JSON.stringify(line)}\n`;
      if (isReadable || batch.length >= batchCharacters) flush();
    },
    flush,
  };
}
