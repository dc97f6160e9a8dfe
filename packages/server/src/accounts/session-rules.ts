import { microsPerMs, nowMicros } from "../platform/storage/micros.ts";
import type { Liveness } from "./sessions-store.ts";

export interface SessionRules {
  /** The configured issuer, or the local one. Sessions of other issuers are no longer valid. */
  issuer: string;
  /** Maximum time between uses. */
  idleMs: number;
  /** Absolute lifetime. */
  maxMs: number;
}

/** The conditions of a session that is live now. */
export function livenessNow({ issuer, idleMs }: Pick<SessionRules, "issuer" | "idleMs">): Liveness {
  const now = nowMicros();
  return { issuer, now, seenSince: now - idleMs * microsPerMs };
}
