import { ServiceError } from "../errors.ts";
import type { QueueLimits } from "../limits/fair-slots.ts";

/** For one account. */
const maxWaitingReads = 1_000;
const maxReadWaitMs = 60_000;

/** How reads wait for a connection. */
export const readerQueue: QueueLimits = {
  maxWaitingEach: maxWaitingReads,
  maxWaitMs: maxReadWaitMs,
  refuse: (why) =>
    new ServiceError(
      "overloaded",
      why === "queue full"
        ? "Too many reads of this account are waiting. Try again when some of them have finished."
        : `The read could not start within ${maxReadWaitMs / 1000} s, because earlier reads took too long. Try again later.`,
      { retryAfterS: 1 },
    ),
};
