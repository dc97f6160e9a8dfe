import type { Logger } from "pino";
import { watchOutage } from "./watch-outage.ts";

export interface StoreWatch {
  failed(error: unknown): void;
  answered(): void;
}

/** Says when the store fails and when it is back. One that takes no writes goes on answering reads, which is one outage. */
export function watchStore(logger: Logger): StoreWatch {
  const { failed, answered } = watchOutage(logger, {
    begins: "the store is not available",
    ends: "the store answers again",
  });
  // Reasons are whatever the database says, and differ from statement to statement.
  return { failed: (error) => failed("", () => reasonOf(error)), answered };
}

/** What the store itself said, in a line. No more of its error: its details may repeat a row. */
function reasonOf(error: unknown): { reason: string; code: string | undefined } {
  if (error instanceof AggregateError && error.message === "") return reasonOf(error.errors[0]);
  if (!(error instanceof Error)) return { reason: String(error), code: undefined };
  if (error.cause instanceof Error) return reasonOf(error.cause);
  return { reason: error.message, code: "code" in error ? String(error.code) : undefined };
}
