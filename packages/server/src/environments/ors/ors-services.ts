import { microsPerMs, nowMicros } from "../../platform/storage/columns.ts";
import type { OrsSessionsTable } from "../../platform/storage/schema/runs.ts";
import type { KnownSessions, SessionIds } from "./ors-sessions.ts";
import type { Delivery, NewSession, SessionStart } from "./ors-sessions-store.ts";
import type { RunningCall } from "./take-call.ts";

/** What the Open Reward Standard needs beside environments and episodes. */
export interface OrsServices {
  readonly ids: SessionIds;
  readonly known: KnownSessions;
  /** The calls for which this process is taking steps, by task: a client that comes back waits for the same step. */
  readonly running: Map<string, RunningCall>;
  /** Stores a session, unless there is one. Returns whether it did. */
  storeSession(session: NewSession): Promise<boolean>;
  /** Starts the episode of a session, unless it has one. Returns whether it did. */
  startSession(start: SessionStart): Promise<boolean>;
  /** Notes that results were sent whole; those of many sessions share a commit. */
  markDelivered(delivery: Delivery): Promise<unknown>;
  /** Aborted when the process stops. A call continues without its client. */
  readonly signal: AbortSignal;
}

/** A session ends after this long without a ping. */
const idleMs = 15 * 60_000;

export function hasEnded({ last_used_at }: Pick<OrsSessionsTable, "last_used_at">): boolean {
  return Number(last_used_at) < nowMicros() - idleMs * microsPerMs;
}
