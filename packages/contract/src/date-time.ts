import { z } from "zod";

const pattern =
  /^(\d{4}-\d\d-\d\d)(?:[Tt _]((?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?)(?:(?<=:\d\d:\d\d)[.,](\d+))?(?:[Zz]|([+-])([01]\d|2[0-3]):?([0-5]\d))?)?$/;

/**
 * A date-time of ISO 8601 in a request, in the spellings that pydantic takes: without an offset it is UTC, and a date alone is
 * its midnight. Numbers, even as text, are refused.
 */
export function dateTime() {
  return z.stringFormat("datetime", (text) => !Number.isNaN(readInstant(text))).meta({ format: "date-time" });
}

/** A date-time in microseconds since 1970-01-01 UTC; NaN if the text is not one. */
export function readInstant(text: string): number {
  const match = pattern.exec(text);
  if (match === null) return Number.NaN;
  const [, date = "", time = "00:00", fraction = "", sign = "+", hours = "0", minutes = "0"] = match;
  const localMs = Date.parse(`${date}T${time}Z`);
  // A 30th of February would be taken as the 2nd of March.
  if (Number.isNaN(localMs) || !new Date(localMs).toISOString().startsWith(date)) return Number.NaN;
  const offsetMinutes = Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes));
  return (localMs - offsetMinutes * 60_000) * 1_000 + Number(fraction.slice(0, 6).padEnd(6, "0"));
}
