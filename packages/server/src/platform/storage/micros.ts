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
