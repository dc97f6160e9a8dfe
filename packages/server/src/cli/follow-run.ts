import type { Run } from "@presage/contract";
import { PresageError } from "@presage/sdk";
import { ServiceError } from "../platform/errors.ts";
import { printable } from "../platform/words.ts";
import { CommandError } from "./command-error.ts";
import { nextSignal } from "./next-signal.ts";
import { printNotice } from "./print-notice.ts";
import { showProgress } from "./show-progress.ts";
import type { Workplace } from "./workplace.ts";

/** A person stopped the command; the run can be resumed. */
export class InterruptedError extends Error {
  constructor() {
    super("Interrupted");
    this.name = "InterruptedError";
  }
}

const interruptedExitCode = 130;

/** Shows a run's progress until it has ended. On Ctrl-C the run is paused, and an `InterruptedError` thrown. */
export async function followRun(place: Workplace, run: Run, server: string | undefined): Promise<Run> {
  const command = `presage run --resume ${run.id}${server === undefined ? "" : ` --server ${server}`}`;
  const progress = showProgress(run);
  const waiting = new AbortController();
  let lastReason: string | null = null;
  const ended = place.waitUntilEnded(
    run.id,
    (now) => {
      progress.update(now);
      const { status, status_reason: reason } = now;
      // A deployment's pause has a reason, and ends by itself.
      if (status === "paused" && reason === null)
        throw new CommandError(`The run was paused. To finish it:\n  ${command}`);
      if (reason !== null && reason !== lastReason) progress.say(`Waiting: ${printable(reason)}`);
      lastReason = reason;
    },
    waiting.signal,
  );
  const interrupted = nextSignal().then(() => "interrupted" as const);
  try {
    const first = await Promise.race([ended, interrupted]);
    if (first !== "interrupted") return first;
  } finally {
    progress.stop();
  }
  // A second one does not wait for the store or the server.
  process.once("SIGINT", () => process.exit(interruptedExitCode));
  waiting.abort(new InterruptedError());
  ended.catch(() => {});
  await pause(place, run.id);
  printNotice(`Paused. To finish it:\n  ${command}`);
  throw new InterruptedError();
}

/** A run that has just ended can no longer be paused. */
async function pause(place: Workplace, id: string): Promise<void> {
  await place.runs.pause(id).catch((error: unknown) => {
    const isConflict =
      (error instanceof PresageError && error.category === "conflict") ||
      (error instanceof ServiceError && error.code === "conflict");
    if (!isConflict) throw error;
  });
}
