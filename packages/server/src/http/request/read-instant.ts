import { type Micros, microsPerMs } from "../../storage/micros.ts";

/** Reads a date-time of ISO 8601 to the microsecond; one without an offset is UTC. */
export function readInstant(text: string): Micros {
  const [, dateTime = "", fraction = "", offset = "Z"] =
    /^(.+?T[\d:]+)(?:\.(\d+))?(Z|[+-]\d{2}:\d{2})?$/.exec(text) ?? [];
  return Date.parse(dateTime + offset) * microsPerMs + Number(fraction.slice(0, 6).padEnd(6, "0"));
}
