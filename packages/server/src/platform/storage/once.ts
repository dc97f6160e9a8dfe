/** A request with an `Idempotency-Key`: it takes effect once, however often it arrives. */
export interface Once {
  /** A digest of the caller, the operation and the caller's `Idempotency-Key`. */
  id: string;
  /** A digest of the rest of the request. */
  requestDigest: string;
}

/** An `Idempotency-Key` that was used before, with another request. */
export class ReusedKeyError extends Error {
  constructor() {
    super("The Idempotency-Key was used for another request. Use a new key for each request.");
    this.name = "ReusedKeyError";
  }
}
