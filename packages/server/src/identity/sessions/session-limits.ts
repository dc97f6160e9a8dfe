import { microsPerMs, nowMicros } from "../../storage/micros.ts";
import type { LiveSince } from "./sessions-store.ts";

export interface SessionLimits {
  /** How long a session goes on without being used. */
  idleMs: number;
  /** How long it goes on at most. */
  maxMs: number;
}

/** What a session must be like to be live now. */
export function liveSince({ idleMs }: Pick<SessionLimits, "idleMs">): LiveSince {
  const now = nowMicros();
  return { now, seenSince: now - idleMs * microsPerMs };
}
