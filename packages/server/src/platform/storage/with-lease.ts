import { endLease, takeLease } from "./leases-store.ts";
import type { Database } from "./schema/tables.ts";

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
