/** Microseconds since 1970-01-01 UTC. */
export type Micros = number;

export const microsPerMs = 1000;
export const microsPerSecond = 1_000_000;
export const microsPerDay = 86_400_000_000;

export function nowMicros(): Micros {
  return Date.now() * microsPerMs;
}

export function toMicros(instant: Date): Micros {
  return instant.getTime() * microsPerMs;
}

/** The contract's date-time: ISO 8601 with an offset and milliseconds. */
export function toIsoInstant(micros: Micros): string {
  return new Date(micros / microsPerMs).toISOString();
}

/** A boolean column: PostgreSQL's own booleans would read back differently from SQLite's. */
export type Flag = 0 | 1;

export function toFlag(value: boolean): Flag {
  return value ? 1 : 0;
}

/** The part of a text up to `maxCharacters` as every database stores it: none accepts NUL, nor half of a surrogate pair. */
export function toStorableText(text: string, maxCharacters = Number.POSITIVE_INFINITY): string {
  const part = text.length > maxCharacters ? text.slice(0, maxCharacters) : text;
  return part.toWellFormed().replaceAll("\0", "\ufffd");
}
