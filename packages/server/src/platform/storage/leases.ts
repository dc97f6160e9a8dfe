import { sql } from "kysely";
import { databaseNow } from "./clock.ts";
import { type Micros, microsPerMs } from "./columns.ts";
import type { Database } from "./schema/tables.ts";

/** Another process may have renewed a lease since the clock was read. */
const graceMs = 5_000;

/** The latest end of a lease of this length. A lease that ends later was taken before the clock was set back, and is void. */
export function latestEnd(now: Micros, leaseMs: number): Micros {
  return now + (leaseMs + graceMs) * microsPerMs;
}

/** Takes or renews a lease. Returns false while another process has it. */
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

/** Whether a process of this machine is running. Another user's process may not be signalled, but exists. */
export function isProcessRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Gives up a lease, so that another process can take it. */
export async function endLease(database: Database, { name, holder }: { name: string; holder: string }) {
  await database.deleteFrom("leases").where("name", "=", name).where("holder", "=", holder).execute();
}

/** How long a lease outlives a process that was killed. */
const leaseMs = 5_000;
const renewAfterMs = 1_500;

interface Lease {
  /** Renews the lease when it is due; to be called between small pieces of work. */
  renew(): Promise<void>;
  /** Aborts when the lease is lost to another process, or with the caller's signal. */
  signal: AbortSignal;
}

/** Works while this process holds the lease, and not at all if another process does. Returns whether it was held to the end. */
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

interface LookerOptions {
  /** Does what there is to do, a little at a time, until nothing is left or `signal` is aborted, which is the same for all looks. */
  look(signal: AbortSignal): Promise<void>;
  /** Absent: it looks only when asked to. */
  intervalMs?: number;
  /** Absent: it also looks immediately. */
  firstAfterInterval?: boolean;
  /** Not called for failures because of `stop`. */
  onFailure(error: unknown): void;
}

export type Looker = ReturnType<typeof startLooking>;

/** Looks regularly and when asked to, one look after the other. Work that fails is done the next time. */
export function startLooking({
  look,
  intervalMs,
  firstAfterInterval = intervalMs === undefined,
  onFailure,
}: LookerOptions) {
  const stopping = new AbortController();
  const { signal } = stopping;
  let looking: Promise<void> = Promise.resolve();
  let isWaiting = false;

  async function lookNow(): Promise<void> {
    isWaiting = false;
    await look(signal).catch((error: unknown) => signal.aborted || onFailure(error));
  }

  function schedule(): void {
    if (isWaiting || signal.aborted) return;
    isWaiting = true;
    looking = looking.then(lookNow);
  }

  const timer = intervalMs && setInterval(schedule, intervalMs);
  if (!firstAfterInterval) schedule();
  return {
    /** Reports something to do: looks soon, and once more if a look is in progress. */
    schedule,
    /** Ends after the current statement. */
    async stop(): Promise<void> {
      clearInterval(timer);
      stopping.abort();
      await looking;
    },
  };
}
