import { type LatencyQuery, readInstant } from "@presage/contract";
import { InvalidRequestError, valueError } from "../http/validate.ts";
import {
  type Micros,
  microsPerDay,
  microsPerHour,
  nowMicros,
  toIsoInstant,
} from "../platform/storage/columns.ts";

/** A period and the steps in which it is reported. Hours are counted since 1970-01-01 UTC. */
export interface UsagePeriod {
  /** The start of a step. */
  fromHour: number;
  /** Exclusive. */
  untilHour: number;
  hoursPerStep: number;
}

const defaultDays = 7;
/** The years that ISO 8601 writes with four digits, which every client can read. That far away, doubles are tens of microseconds apart. */
const [earliest, latest] = ["0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z"].map(readInstant) as [
  Micros,
  Micros,
];
const outOfRange = "A period lies within the years 0000 to 9999";
const steps = {
  hour: { hours: 1, mostDays: 31, limit: "A period by the hour has at most 31 days" },
  day: { hours: 24, mostDays: 400, limit: "A period has at most 400 days" },
} as const;

/** The requested period, and the hours to query. */
export interface RequestedPeriod extends UsagePeriod {
  step: "hour" | "day";
  until: Micros;
}

/** Reads the period of a query; throws if it is invalid. */
export function readUsagePeriod(query: LatencyQuery): RequestedPeriod {
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

/** Refuses a period, by default because of its start. */
export function refusePeriod(
  query: LatencyQuery,
  message: string,
  field: "since" | "until" = "since",
): never {
  throw new InvalidRequestError([valueError(["query", field], message, query[field])]);
}

/** The period that a response covers. */
export function toCoveredPeriod({ fromHour, until, step }: RequestedPeriod) {
  return { since: toIsoHour(fromHour), until: toIsoInstant(until), step };
}

export function toIsoHour(hour: number): string {
  return toIsoInstant(hour * microsPerHour);
}
