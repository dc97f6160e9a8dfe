import { ClientDisconnectedError, UpstreamError } from "../../platform/errors.ts";
import { withDeadline } from "../../platform/limits/deadline.ts";

/** OpenEnv's client gives up after 60 s. Older ones would then take a later answer for that of their next message. */
export const deadlineMs = 50_000;
const latestMs = 57_000;

/** Handles a message until its deadline, when the work's signal is aborted. */
export function untilDeadline<Value>(
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Value>,
  timeoutMs = deadlineMs,
): Promise<Value> {
  return withDeadline({ timeoutMs, timeoutError, signal }, async (aborted) => {
    try {
      return await work(aborted);
    } catch (error) {
      // Calls take every abort for that of their client.
      throw error instanceof ClientDisconnectedError && aborted.aborted ? aborted.reason : error;
    }
  });
}

function timeoutError(timeoutMs: number): UpstreamError {
  return new UpstreamError(
    "timeout",
    `There was no answer within ${timeoutMs / 1000} s. Send the message again.`,
  );
}

/**
 * The answer, or what stands for it if there is none by now. Only a database that stalls takes longer than the deadline: whether the step
 * is stored is not known until the client is back.
 */
export async function orLate<Answer>(
  answer: Promise<Answer>,
  late: Answer,
  timeoutMs = latestMs,
): Promise<Answer> {
  const timeout = Promise.withResolvers<Answer>();
  const timer = setTimeout(() => timeout.resolve(late), timeoutMs);
  try {
    return await Promise.race([answer, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}
