import { sql } from "kysely";
import { type Micros, microsPerDay, microsPerMs } from "./columns.ts";
import type { Database } from "./schema/tables.ts";
import { databaseNow, readDatabaseClock, readSetting, saveSetting } from "./settings-store.ts";

/** Another process may have renewed a lease since the clock was read. */
const graceMs = 5_000;

/** When a lease of this length ends at the latest. One that ends later was taken before the clock was set back, and holds nothing. */
export function latestEnd(now: Micros, leaseMs: number): Micros {
  return now + (leaseMs + graceMs) * microsPerMs;
}

/** Takes a lease, or keeps it for longer. Returns false while another process has it. */
export async function takeLease(
  database: Database,
  { name, holder, forMs }: { name: string; holder: string; forMs: number },
): Promise<boolean> {
  const now = databaseNow(database);
  const until = sql<number>`${now} + ${sql.lit(forMs * microsPerMs)}`;
  const latest = sql<number>`${now} + ${sql.lit(latestEnd(0, forMs))}`;
  const { rows } = await sql`insert into leases (name, holder, until) values (${name}, ${holder}, ${until})
    on conflict (name) do update set holder = excluded.holder, until = excluded.until
    where leases.holder = excluded.holder or leases.until < ${now} or leases.until > ${latest} returning name`.execute(
    database,
  );
  return rows.length > 0;
}

/** Lets another process have it. */
export async function endLease(
  database: Database,
  { name, holder }: { name: string; holder: string },
): Promise<void> {
  await database.deleteFrom("leases").where("name", "=", name).where("holder", "=", holder).execute();
}

/** How long a lease outlives a process that was killed. */
const leaseMs = 5_000;
const renewAfterMs = 1_500;

interface Lease {
  /** Renews the lease if it is time to: call it between small pieces of work. */
  renew(): Promise<void>;
  /** Aborts when the lease is lost to another process, or with the caller's signal. */
  signal: AbortSignal;
}

/** Works while this process holds the lease, and not at all if another one does. Returns whether it was held to the end. */
export async function withLease(
  database: Database,
  named: { name: string; holder: string },
  signal: AbortSignal,
  work: (lease: Lease) => Promise<void>,
): Promise<boolean> {
  const lease = { ...named, forMs: leaseMs };
  if (!(await takeLease(database, lease))) return false;
  let renewedAtMs = performance.now();
  const lost = new AbortController();
  async function renew(): Promise<void> {
    if (performance.now() - renewedAtMs <= renewAfterMs) return;
    if (!(await takeLease(database, lease))) lost.abort();
    renewedAtMs = performance.now();
  }
  try {
    await work({ renew, signal: AbortSignal.any([signal, lost.signal]) });
    return !lost.signal.aborted;
  } finally {
    await endLease(database, lease);
  }
}

export interface Sweeper {
  /** Sweeps soon: something was deleted. */
  schedule(): void;
  /** Ends after the current statement. */
  stop(): Promise<void>;
}

export interface SweeperOptions {
  /** Deletes what is no longer wanted, a little at a time, until nothing is left or `signal` is aborted. */
  sweep(signal: AbortSignal): Promise<void>;
  intervalMs: number;
  onFailure(error: unknown): void;
}

/** Sweeps at once, then regularly and when asked to. What could not be swept is swept the next time. */
export function startSweeper({ sweep, intervalMs, onFailure }: SweeperOptions): Sweeper {
  const stopping = new AbortController();
  let sweeping: Promise<void> = Promise.resolve();
  let isWaiting = false;

  async function sweepNow(): Promise<void> {
    isWaiting = false;
    await sweep(stopping.signal).catch(onFailure);
  }

  function schedule(): void {
    if (isWaiting || stopping.signal.aborted) return;
    isWaiting = true;
    sweeping = sweeping.then(sweepNow);
  }

  const timer = setInterval(schedule, intervalMs);
  schedule();
  return {
    schedule,
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await sweeping;
    },
  };
}

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
