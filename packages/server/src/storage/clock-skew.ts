import { readDatabaseClock } from "./database-clock.ts";
import { isPostgres } from "./is-postgres.ts";
import { type Micros, microsPerMs, nowMicros, toIsoInstant } from "./micros.ts";
import type { Database } from "./schema/tables.ts";

/** What clocks of machines that are set by a time server never differ by. */
export const mostSkewMs = 60_000;

/** The clocks of this process and of its database tell different times, so that one of them is wrong. */
export class ClockSkewError extends Error {
  constructor({ own, database }: ClockSkew) {
    super(
      `It is ${toIsoInstant(own)} by the clock of this machine and ${toIsoInstant(database)} by that of the database ` +
        "(PRESAGE_DATABASE_URL). They may differ by a minute at most; set the wrong one right.",
    );
    this.name = "ClockSkewError";
  }
}

export interface ClockSkew {
  own: Micros;
  database: Micros;
}

/** The times by both clocks, if they differ by more than they may. SQLite has no clock of its own. */
export async function findClockSkew(database: Database): Promise<ClockSkew | undefined> {
  if (!isPostgres(database)) return undefined;
  const before = nowMicros();
  const its = await readDatabaseClock(database);
  const after = nowMicros();
  // However long the answer took, it was made between the two.
  const skew = Math.max(before - its, its - after);
  return skew > mostSkewMs * microsPerMs ? { own: after, database: its } : undefined;
}
