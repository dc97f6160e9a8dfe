import { readDatabaseClock } from "../../platform/storage/clock.ts";
import { microsPerMs } from "../../platform/storage/columns.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { isPostgres } from "../../platform/storage/store.ts";
import { keepHeadlines } from "../headlines/headline.ts";
import { isOfDeadProcess, type Lease, newLeaseId, runLeaseMs } from "../run.ts";
import { deleteRunRow, deleteSomeRunRows, selectDiscardedRun } from "../runs-store.ts";
import { type HeldRun, holdRun } from "./hold-run.ts";
import type { RunnerServices } from "./work-on-run.ts";
import { claimRun, releaseLease, releaseStuckRuns } from "./work-store.ts";

const lookEveryMs = 1_000;
/** Some tens of milliseconds of the writer's time. */
const rowsAtOnce = 500;
/** Runs that this process works on at once; others wait, or are taken by other processes. */
const maxRuns = 16;
/** And of one account, so that its long runs leave room for others'. */
const maxRunsEach = 8;

export interface Runner {
  /** Looks for work at once: a run was created, resumed, cancelled or paused. */
  wake(): void;
  /** Lets other processes have this one's runs. */
  stop(): Promise<void>;
}

/** Works on runs that no other process works on, as they appear in the store, or on the only one that it is told to. */
export function startRunner(
  services: RunnerServices,
  onError: (error: unknown) => void,
  only?: Lease,
): Runner {
  const { database } = services.store;
  /** With their accounts. */
  const held = new Map<HeldRun, string>();
  /** Of runs that this process no longer works on, until the store has been told. */
  const left = new Set<Lease>();
  const headlines = keepHeadlines(services, onError);
  let isStopping = false;
  let looking: Promise<void> = Promise.resolve();
  let isLooking = false;

  async function takeRuns(): Promise<void> {
    await giveBack(database, left);
    while (!isStopping && held.size < (only === undefined ? maxRuns : 1)) {
      const leaseId = only?.leaseId ?? newLeaseId();
      const now = await readDatabaseClock(database);
      const claim = {
        now,
        leaseMicros: runLeaseMs * microsPerMs,
        runId: only?.id,
        busyAccounts: busyAccounts(held.values()),
      };
      const run = await claimRun(database, leaseId, claim);
      if (run === undefined) return;
      const lease = { id: run.id, leaseId };
      const one = holdRun(services, run, lease, onError);
      held.set(one, run.account_id);
      void one.ended.then(() => {
        held.delete(one);
        left.add(lease);
        look();
      });
    }
  }

  function look(): void {
    if (isLooking || isStopping) return;
    isLooking = true;
    looking = releaseStuck(database)
      .then(takeRuns)
      .then(() => (isStopping ? undefined : sweep(database)))
      .then(headlines.look)
      .catch(onError)
      .finally(() => {
        isLooking = false;
      });
  }

  const timer = setInterval(look, lookEveryMs);
  look();
  return {
    wake() {
      for (const run of held.keys()) run.look();
      look();
    },
    async stop() {
      isStopping = true;
      clearInterval(timer);
      await looking;
      await headlines.stop();
      await Promise.all(Array.from(held.keys(), (run) => run.release()));
    },
  };
}

/** A run whose store was away goes on once that is back, rather than when its lease has run out. */
async function giveBack(database: Database, left: Set<Lease>): Promise<void> {
  for (const lease of left) {
    await releaseLease(database, lease, 0);
    left.delete(lease);
  }
}

function busyAccounts(ofHeld: Iterable<string>): string[] {
  const runsOf = Map.groupBy(ofHeld, (accountId) => accountId);
  return [...runsOf].flatMap(([accountId, { length }]) => (length >= maxRunsEach ? accountId : []));
}

/** The processes that share an SQLite file are on one machine, and can be told from dead ones. */
async function releaseStuck(database: Database): Promise<void> {
  const hasEnded = isPostgres(database) ? () => false : isOfDeadProcess;
  await releaseStuckRuns(database, await readDatabaseClock(database), hasEnded);
}

async function sweep(database: Database): Promise<void> {
  const id = await selectDiscardedRun(database);
  if (id === undefined || (await deleteSomeRunRows(database, id, rowsAtOnce))) return;
  await deleteRunRow(database, id);
}
