/** A request that its caller wants done once, however often it arrives. */
export interface Once {
  /** A digest of the caller, the operation and the caller's `Idempotency-Key`. */
  id: string;
  /** A digest of everything else that the request says. */
  requestDigest: string;
}

/** An `Idempotency-Key` that came before, with another request. */
export class ReusedKeyError extends Error {
  constructor() {
    super("The Idempotency-Key was used for another request. Send each request with a key of its own.");
    this.name = "ReusedKeyError";
  }
}
