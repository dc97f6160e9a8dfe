import { readDatabaseClock } from "./database-clock.ts";
import { type Micros, microsPerDay } from "./micros.ts";
import type { Database } from "./schema/tables.ts";
import { readSetting, saveSetting } from "./settings-store.ts";

/** No server ran for longer than this, or the clock is wrong: nobody can tell. */
const longestGap = 2 * microsPerDay;
/** For how long servers run until the clock is believed all the same. */
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
 * Looks at the database's clock before something is deleted by it. `jumped` is set while the clock may be wrong: days past the last time
 * that a server ran, until servers have run for a day.
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

/** What is known after a look at the clock. The first one is believed: there is nothing to compare it with. */
export function nextSeen(last: SeenClock | undefined, now: Micros): SeenClock {
  if (last === undefined || now - last.believed <= longestGap) return { believed: now };
  const { seen, ran } = last.jumped ?? { seen: now, ran: 0 };
  const running = ran + Math.min(Math.max(now - seen, 0), longestPause);
  if (running >= untilBelieved) return { believed: now };
  return { believed: last.believed, jumped: { seen: now, ran: running } };
}
