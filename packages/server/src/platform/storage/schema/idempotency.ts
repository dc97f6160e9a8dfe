import type { Micros } from "../micros.ts";

/** Requests with an `Idempotency-Key`, remembered for a day. */
export interface IdempotentRequestsTable {
  /** A digest of the caller, the operation and the key. */
  id: string;
  /** A digest of the rest of the request. */
  request_digest: string;
  /** What the response is rebuilt from: JSON, or the name of an import. */
  receipt: string;
  created_at: Micros;
}
