import { ApiKeyCreateRequest } from "@presage/contract";
import { checkExpiry, ExpiryError, parseExpiry } from "../accounts/api-keys.ts";
import { CommandError } from "./command-error.ts";

const minuteMs = 60_000;
const unitMs: Record<string, number> = {
  m: minuteMs,
  h: 60 * minuteMs,
  d: 24 * 60 * minuteMs,
  w: 7 * 24 * 60 * minuteMs,
  y: 365 * 24 * 60 * minuteMs,
};

/** The instant of `--expires-at`: from now, as in `30d`; a date, which is its first moment in UTC; or a date-time. */
export function readExpiry(text: string): Date {
  const [, count, unit = ""] = /^(\d{1,9})([mhdwy])$/.exec(text) ?? [];
  const ms = unitMs[unit];
  try {
    if (count !== undefined && ms !== undefined)
      return checkExpiry(new Date(Date.now() + Number(count) * ms));
    const dateTime = /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text;
    if (ApiKeyCreateRequest.shape.expires_at.safeParse(dateTime).success) return parseExpiry(dateTime);
  } catch (error) {
    throw error instanceof ExpiryError ? new CommandError(`--expires-at: ${error.message}`) : error;
  }
  throw new CommandError(
    "--expires-at takes a time from now such as 12h, 30d or 1y, a date such as 2027-01-31, or a date-time such as 2027-01-31T12:00:00Z",
  );
}
