import { microsPerMs, nowMicros } from "../../storage/micros.ts";
import type { Liveness } from "./sessions-store.ts";

export interface SessionRules {
  /** Where people sign in now: the provider's configured issuer, or the local one. Sessions from elsewhere count no more. */
  issuer: string;
  /** How long a session goes on without being used. */
  idleMs: number;
  /** How long it goes on at most. */
  maxMs: number;
}

/** What a session must be like to be live now. */
export function livenessNow({ issuer, idleMs }: Pick<SessionRules, "issuer" | "idleMs">): Liveness {
  const now = nowMicros();
  return { issuer, now, seenSince: now - idleMs * microsPerMs };
}
