import { type RawBuilder, sql } from "kysely";
import { type Micros, microsPerDay, microsPerMs, nowMicros, toIsoInstant } from "./columns.ts";
import type { Database } from "./schema/tables.ts";
import { readSetting, saveSetting } from "./settings-store.ts";
import { isPostgres } from "./store.ts";

/** The database's time in whole milliseconds: PostgreSQL's clock, which all processes share; on SQLite this process's. */
export function databaseNow(database: Database): RawBuilder<Micros> {
  if (!isPostgres(database)) return sql`${sql.lit(nowMicros())}`;
  return sql`(floor(extract(epoch from clock_timestamp()) * 1000)::bigint * 1000)`;
}

export async function readDatabaseClock(database: Database): Promise<Micros> {
  if (!isPostgres(database)) return nowMicros();
  const { rows } = await sql<{ now: Micros }>`select ${databaseNow(database)} as now`.execute(database);
  return rows[0]?.now ?? nowMicros();
}

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

interface ClockSkew {
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

/** After a longer gap, either no server ran or the clock is wrong: there is no way to tell. */
const longestGap = 2 * microsPerDay;
/** For how long servers run until the clock is believed anyway. */
const untilBelieved = microsPerDay;
/** Time between two looks at the clock that counts as running; servers look every ten minutes. */
const longestPause = microsPerDay / 96;

/** What servers know of the database's clock. */
export interface SeenClock {
  /** When a server last ran and the clock was believed. */
  believed: Micros;
  /** After a jump: the last look at the clock, and for how long servers have run since, both by that clock. */
  jumped?: { seen: Micros; ran: Micros };
}

export const seenClockSetting = "seen_clock";

/**
 * Looks at the database's clock before anything is deleted by it. `jumped` is set while the clock may be wrong: from when it is days past
 * the last time that a server ran, until servers have run for a day.
 */
export async function seeClock(database: Database): Promise<SeenClock & { now: Micros }> {
  const now = await readDatabaseClock(database);
  const seen = nextSeen(parseSeen(await readSetting(database, seenClockSetting)), now);
  await saveSetting(database, seenClockSetting, JSON.stringify(seen));
  return { ...seen, now };
}

export function parseSeen(setting: string | undefined): SeenClock | undefined {
  return setting === undefined ? undefined : JSON.parse(setting);
}

/** The state after a look at the clock. The first look is believed: there is nothing to compare it with. */
export function nextSeen(last: SeenClock | undefined, now: Micros): SeenClock {
  if (last === undefined || now - last.believed <= longestGap) return { believed: now };
  const { seen, ran } = last.jumped ?? { seen: now, ran: 0 };
  const running = ran + Math.min(Math.max(now - seen, 0), longestPause);
  if (running >= untilBelieved) return { believed: now };
  return { believed: last.believed, jumped: { seen: now, ran: running } };
}
