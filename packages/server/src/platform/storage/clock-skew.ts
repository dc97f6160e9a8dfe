import { readDatabaseClock } from "./database-clock.ts";
import { isPostgres } from "./is-postgres.ts";
import { type Micros, microsPerMs, nowMicros, toIsoInstant } from "./micros.ts";
import type { Database } from "./schema/tables.ts";

/** Clocks that are synchronised with a time server never differ by this much. */
export const maxSkewMs = 60_000;

/** The clocks of this machine and of its database differ, so one of them is wrong. */
export class ClockSkewError extends Error {
  constructor({ own, database }: ClockSkew) {
    super(
      `This machine's clock says ${toIsoInstant(own)}, the database's (PRESAGE_DATABASE_URL) ${toIsoInstant(database)}. ` +
        "They may differ by at most a minute; correct the wrong one.",
    );
    this.name = "ClockSkewError";
  }
}

export interface ClockSkew {
  own: Micros;
  database: Micros;
}

/** Both clocks' times if they differ by more than `maxSkewMs`. SQLite has no clock of its own. */
export async function findClockSkew(database: Database): Promise<ClockSkew | undefined> {
  if (!isPostgres(database)) return undefined;
  const before = nowMicros();
  const theirs = await readDatabaseClock(database);
  const after = nowMicros();
  // However long the query took, the database read its clock between the two.
  const skew = Math.max(before - theirs, theirs - after);
  return skew > maxSkewMs * microsPerMs ? { own: after, database: theirs } : undefined;
}
