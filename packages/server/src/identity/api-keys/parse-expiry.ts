/** The last year that a date-time can name with four digits; an offset can reach past it. */
const lastYear = 9999;

/** An expiry that no key can have. */
export class ExpiryError extends Error {
  readonly isPast: boolean;

  constructor(isPast: boolean) {
    super(isPast ? "the expiry is in the past" : `the expiry is after the year ${lastYear}`);
    this.name = "ExpiryError";
    this.isPast = isPast;
  }
}

/** Reads a date-time of ISO 8601, which must lie ahead; one without an offset is UTC. */
export function parseExpiry(text: string): Date {
  const hasOffset = /(Z|[+-]\d{2}:?\d{2})$/.test(text);
  const expiresAt = new Date(hasOffset ? text : `${text}Z`);
  if (expiresAt.getUTCFullYear() > lastYear) throw new ExpiryError(false);
  if (expiresAt.getTime() <= Date.now()) throw new ExpiryError(true);
  return expiresAt;
}
