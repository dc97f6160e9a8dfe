import { parse } from "tinyduration";

/** Milliseconds of an ISO 8601 duration; undefined for months and years, which have no fixed length. */
export function readDuration(text: string): number | undefined {
  try {
    const { years, months, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0 } = parse(text);
    if (years || months) return undefined;
    return ((((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60 + seconds) * 1_000;
  } catch {
    return undefined;
  }
}
