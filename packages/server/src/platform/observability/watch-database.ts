import type { Logger } from "pino";
import { watchOutage } from "./watch-outage.ts";

export interface DatabaseWatch {
  failed(error: unknown): void;
  responded(): void;
}

/** Logs outages of the database. A database that rejects writes and still answers reads is one outage. */
export function watchDatabase(logger: Logger): DatabaseWatch {
  const { failed, responded } = watchOutage(logger, {
    begins: "database unavailable",
    ends: "database available again",
  });
  // Messages differ from statement to statement, so they are not kinds of failure.
  return { failed: (error) => failed("", () => reasonOf(error)), responded };
}

/** The database's own message and code, without the rest of its error: the details may contain a row. */
export function reasonOf(error: unknown): { reason: string; code: string | undefined } {
  if (error instanceof AggregateError && error.message === "") return reasonOf(error.errors[0]);
  if (!(error instanceof Error)) return { reason: String(error), code: undefined };
  if (error.cause instanceof Error) return reasonOf(error.cause);
  return { reason: error.message, code: "code" in error ? String(error.code) : undefined };
}
