import type { LatencyQuery } from "@presage/contract";
import { type Micros, nowMicros } from "../../../storage/micros.ts";
import type { UsagePeriod } from "../../../usage/usage-store.ts";
import { readInstant } from "../../request/read-instant.ts";
import { ValidationFailure } from "../../request/validation.ts";

export const microsPerHour = 3_600_000_000;
const microsPerDay = 24 * microsPerHour;
const defaultDays = 7;
/** The years that ISO 8601 writes with four digits, as every client reads them. So far away a double counts in tens of microseconds. */
const [earliest, latest] = ["0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z"].map(readInstant) as [
  Micros,
  Micros,
];
const outOfRange = "A period lies within the years 0000 to 9999";
const steps = {
  hour: { hours: 1, mostDays: 31, limit: "A period by the hour has at most 31 days" },
  day: { hours: 24, mostDays: 400, limit: "A period has at most 400 days" },
} as const;

/** A period as it was asked for, beside what the store is asked. */
export interface AskedPeriod extends UsagePeriod {
  step: "hour" | "day";
  until: Micros;
}

/** Reads the period of a query, or says what is wrong with it. */
export function readUsagePeriod(query: LatencyQuery): AskedPeriod {
  const step = query.step ?? "day";
  const { hours, mostDays, limit } = steps[step];
  const until = query.until === undefined ? nowMicros() : readInstant(query.until);
  const since = query.since === undefined ? until - defaultDays * microsPerDay : readInstant(query.since);
  if (until < earliest || until > latest) refusePeriod(query, outOfRange, "until");
  if (since < earliest) refusePeriod(query, outOfRange, query.since === undefined ? "until" : "since");
  if (since > until) refusePeriod(query, "since must not be after until");
  if (until - since > mostDays * microsPerDay) refusePeriod(query, limit);
  return {
    step,
    until,
    fromHour: Math.floor(since / (hours * microsPerHour)) * hours,
    untilHour: Math.ceil(until / microsPerHour),
    hoursPerStep: hours,
  };
}

/** Refuses a period, at its beginning if nothing else is said. */
export function refusePeriod(
  query: LatencyQuery,
  message: string,
  field: "since" | "until" = "since",
): never {
  const fault = { type: "value_error", msg: `Value error, ${message}`, ctx: { error: message } };
  throw new ValidationFailure([{ ...fault, loc: ["query", field], input: query[field] }]);
}
