import { hostname } from "node:os";
import type { Micros } from "../platform/storage/columns.ts";

export const runLeaseMs = 30_000;
/** Longer than a batch waits for the client. */
export const uploadLeaseMs = 120_000;

/** A run as the process names it that works on it. */
export interface Lease {
  id: string;
  leaseId: string;
}

/** A lease of a run that is not stored yet. Times are the database's. */
export interface HeldLease {
  leaseId: string;
  until: Micros;
}

/** Unlike the number alone, it is never another process's. */
const thisProcess = `${hostname()}/${process.pid}/${Bun.randomUUIDv7()}`;

/** The id of a new lease, which names this process. */
export function newLeaseId(): string {
  return `${thisProcess}/${Bun.randomUUIDv7()}`;
}

/** Whether the process that a lease's id names has ended. Of another machine's, or without a name, that is not known: false. */
export function isOfDeadProcess(leaseId: string): boolean {
  const [host, pid] = leaseId.split("/");
  if (host !== hostname() || pid === undefined || leaseId.startsWith(thisProcess)) return false;
  // After a restart in a container, this process has the number of the one before.
  if (Number(pid) === process.pid) return true;
  try {
    return !process.kill(Number(pid), 0);
  } catch (error) {
    // Another user's may not be signalled, but is there.
    return error instanceof Error && "code" in error && error.code === "ESRCH";
  }
}
