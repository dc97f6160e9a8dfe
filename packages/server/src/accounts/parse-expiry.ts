import { readInstant } from "@presage/contract";

/** The last year with four digits; a date-time with an offset can be beyond it. */
const maxYear = 9999;

/** An expiry in the past or too far in the future. */
export class ExpiryError extends Error {
  readonly isPast: boolean;

  constructor(isPast: boolean) {
    super(isPast ? "the expiry is in the past" : `the expiry is after the year ${maxYear}`);
    this.name = "ExpiryError";
    this.isPast = isPast;
  }
}

/** Parses an ISO 8601 date-time, which must be in the future; without an offset it is UTC. */
export function parseExpiry(text: string): Date {
  return checkExpiry(new Date(readInstant(text) / 1_000));
}

/** The expiry, which must be in the future and before the year 10000. */
export function checkExpiry(expiresAt: Date): Date {
  if (Number.isNaN(expiresAt.getTime()) || expiresAt.getUTCFullYear() > maxYear) throw new ExpiryError(false);
  if (expiresAt.getTime() <= Date.now()) throw new ExpiryError(true);
  return expiresAt;
}
