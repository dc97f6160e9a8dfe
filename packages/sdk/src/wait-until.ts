import type { CallOptions } from "./call.ts";
import { sleep } from "./deadline.ts";
import { PresageError } from "./presage-error.ts";

/** Options of methods that wait for something that the server does in the background. */
export interface WaitOptions<Value> extends CallOptions {
  /** Called with each value that was read. An error thrown here ends the waiting. */
  onProgress?: ((value: Value) => void) | undefined;
  /** Longest pause between two reads in milliseconds: the first ones are shorter. Default: 1,000. */
  pollEveryMs?: number | undefined;
  /** How long the server may be unreachable or too busy, in milliseconds, for example while it restarts. Default: 60,000. */
  patienceMs?: number | undefined;
}

const firstPauseMs = 100;
const defaultPollEveryMs = 1_000;
const defaultPatienceMs = 60_000;

/** Reads until `isOver` is true of the value, and returns that value. */
export async function waitUntil<Value>(
  read: (options: CallOptions) => Promise<Value>,
  isOver: (value: Value) => boolean,
  {
    onProgress,
    pollEveryMs = defaultPollEveryMs,
    patienceMs = defaultPatienceMs,
    ...options
  }: WaitOptions<Value> = {},
): Promise<Value> {
  let lastReadAtMs = Date.now();
  let pauseMs = Math.min(firstPauseMs, pollEveryMs);
  for (;;) {
    const value = await read(options).catch((error: unknown) => {
      if (!isPassing(error) || Date.now() - lastReadAtMs >= patienceMs) throw error;
      return undefined;
    });
    if (value !== undefined) {
      lastReadAtMs = Date.now();
      onProgress?.(value);
      if (isOver(value)) return value;
    }
    await sleep(pauseMs, options.signal);
    pauseMs = Math.min(1.5 * pauseMs, pollEveryMs);
  }
}

/** Whether a later try may succeed. No read asks a model, so an `upstream` error is a proxy's whose server is restarting. */
function isPassing(error: unknown): boolean {
  return (
    error instanceof PresageError &&
    ["connection", "unavailable", "upstream", "rate_limit", "timeout"].includes(error.category)
  );
}
