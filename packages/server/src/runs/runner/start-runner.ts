import { InvalidEvaluatorsError } from "../../evaluators/resolve-evaluators.ts";
import { readDatabaseClock } from "../../platform/storage/clock.ts";
import { microsPerMs } from "../../platform/storage/columns.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { isPostgres } from "../../platform/storage/store.ts";
import { isStoreUnavailable } from "../../platform/storage/store-error.ts";
import type { Run } from "../run.ts";
import { isOfDeadProcess, type Lease, newLeaseId, runLeaseMs } from "../run.ts";
import { deleteRunRow, deleteSomeRunRows, selectDiscardedRun } from "../runs-store.ts";
import { findTarget } from "./ask-world.ts";
import { createWorkWriter, LostRunError } from "./evaluate-step.ts";
import { createPace, type Pace } from "./pace.ts";
import { type RunnerServices, workOnRun } from "./work-on-run.ts";
import {
  claimRun,
  endRun,
  markAway,
  readRunState,
  releaseLease,
  releaseStuckRuns,
  renewLease,
  saveProvenance,
} from "./work-store.ts";

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
  let isStopping = false;
  let looking: Promise<void> = Promise.resolve();
  let isLooking = false;

  async function takeRuns(): Promise<void> {
    await giveBack();
    while (!isStopping && held.size < (only === undefined ? maxRuns : 1)) {
      const leaseId = only?.leaseId ?? newLeaseId();
      const now = await readDatabaseClock(database);
      const claim = {
        now,
        leaseMicros: runLeaseMs * microsPerMs,
        runId: only?.id,
        busyAccounts: busyAccounts(),
      };
      const run = await claimRun(database, leaseId, claim);
      if (run === undefined) return;
      const one = holdRun(services, run, leaseId, onError);
      held.set(one, run.account_id);
      void one.ended.then(() => {
        held.delete(one);
        left.add({ id: run.id, leaseId });
        look();
      });
    }
  }

  /** The processes that share an SQLite file are on one machine, and can be told from dead ones. */
  async function releaseStuck(): Promise<void> {
    const hasEnded = isPostgres(database) ? () => false : isOfDeadProcess;
    await releaseStuckRuns(database, await readDatabaseClock(database), hasEnded);
  }

  function busyAccounts(): string[] {
    const runsOf = Map.groupBy(held.values(), (accountId) => accountId);
    return [...runsOf].flatMap(([accountId, { length }]) => (length >= maxRunsEach ? accountId : []));
  }

  /** A run whose store was away goes on once that is back, rather than when its lease has run out. */
  async function giveBack(): Promise<void> {
    for (const lease of left) {
      await releaseLease(database, lease, 0);
      left.delete(lease);
    }
  }

  /** Deletes some rows of deleted runs. */
  async function sweep(): Promise<void> {
    const id = isStopping ? undefined : await selectDiscardedRun(database);
    if (id === undefined || (await deleteSomeRunRows(database, id, rowsAtOnce))) return;
    await deleteRunRow(database, id);
  }

  function look(): void {
    if (isLooking || isStopping) return;
    isLooking = true;
    looking = releaseStuck()
      .then(takeRuns)
      .then(sweep)
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
      await Promise.all(Array.from(held.keys(), (run) => run.release()));
    },
  };
}

/** A deployment that names each response's model differently would make the run's row grow. */
const maxModels = 100;
/** When to look again at a run that cannot be worked on now. */
const retryAfterMs = 10_000;

/** The deployment or the world of a run was removed, or the disk has too little room. */
class HinderedError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "HinderedError";
  }
}

/** What a run waited for, in sentences. */
function waitingNotes({ rate, memory, outages }: ReturnType<Pace["waitedMs"]>): string[] {
  const seconds = (ms: number) => `${Math.ceil(ms / 1000)} s`;
  return [
    ...(rate > 0 ? [`Waited ${seconds(rate)} for rate limits of the deployment.`] : []),
    ...(memory > 0
      ? [`Waited ${seconds(memory)} for memory for responses (PRESAGE_MEMORY_BUDGET_BYTES).`]
      : []),
    ...(outages > 0 ? [`Waited ${seconds(outages)} for the deployment to respond.`] : []),
  ];
}

interface HeldRun {
  /** Looks at once whether the run was cancelled or paused. */
  look(): void;
  /** Lets another process take the run. Resolves once this one has stopped. */
  release(): Promise<void>;
  /** Resolves once this process no longer works on it. Never rejects. */
  ended: Promise<void>;
}

/** Works on a run whose lease this process has, until it has ended, is paused, or the process stops. */
function holdRun(
  services: RunnerServices,
  run: Run,
  leaseId: string,
  onError: (error: unknown) => void,
): HeldRun {
  const { database } = services.store;
  const lease = { id: run.id, leaseId };
  const controller = new AbortController();
  const { signal } = controller;
  /** Something was left to ask when the run was hindered. */
  let wasCutShort = false;
  let isReleased = false;
  const models = new Set(run.provenance.models);
  const tries = structuredClone(run.tries) ?? { retried: {}, timed_out: 0 };
  let said: Promise<void> = Promise.resolve();
  const listeners = {
    onAway: (reason: string, failures: number) =>
      say(`The deployment failed ${failures} times in a row: ${reason}`),
    onBack: () => say(undefined),
  };
  const pace = createPace(run.concurrency, listeners, { patience: services.patience });

  /** Says why the run waits, or that it no longer does. One after the other: the last one stays. */
  function say(reason: string | undefined): void {
    said = said.then(() => markAway(database, lease, reason)).catch(() => {});
  }

  function know(): Pick<Run, "provenance" | "notes" | "tries"> {
    return {
      provenance: { ...run.provenance, models: [...models] },
      notes: [...run.notes, ...waitingNotes(pace.waitedMs())],
      tries: run.tries && { ...tries, at_once: pace.atOnce() },
    };
  }

  /** Why the run cannot be worked on now, if that is so. */
  async function findHindrance(): Promise<HinderedError | undefined> {
    const target = await findTarget(services, run, signal);
    if ("reason" in target) return new HinderedError(target.reason);
    const shortage = await services.findShortage();
    return shortage === undefined ? undefined : new HinderedError(shortage);
  }

  let saved = JSON.stringify(know());

  // What is under way ends, also on a removed deployment, and nothing more is asked.
  const watch = watchRun(database, lease, {
    signal,
    mayGoOn: async () => (await findHindrance()) === undefined,
    onLost: () => controller.abort(new LostRunError()),
    onLooked: saveWhatIsKnown,
    onError,
  });

  async function saveWhatIsKnown(): Promise<void> {
    const known = JSON.stringify(know());
    if (known === saved) return;
    await saveProvenance(database, lease, know());
    saved = known;
  }

  async function work(): Promise<void> {
    const { dataset } = run;
    const hindrance = await findHindrance();
    if (hindrance !== undefined) throw hindrance;
    const target = await findTarget(services, run, signal);
    if ("reason" in target) throw new HinderedError(target.reason);
    if (dataset === undefined) throw new Error("A run without a dataset has nothing to work on");
    // It may have been away for another process, or for this one before.
    if (run.status === "paused") await markAway(database, lease, undefined);
    const reader = services.store.reader({ accountId: run.account_id, signal });
    const span = services.startSpan?.({ id: run.id, name: run.name, datasetId: dataset.datasetId });
    const working = workOnRun({
      services,
      run: { ...run, dataset },
      world: target.world,
      span,
      reader,
      writer: createWorkWriter({ runId: run.id, leaseId }, services.writeWork),
      pace,
      tries,
      signal,
      isStopping() {
        wasCutShort ||= watch.isHindered();
        return watch.isPausedByUser() || watch.isHindered() || isReleased;
      },
      onModel(model) {
        if (models.size < maxModels) models.add(model);
      },
    });
    span?.endAfter(working);
    await working;
  }

  async function workToTheEnd(): Promise<void> {
    try {
      await work()
        .finally(() => said)
        .finally(saveWhatIsKnown);
      const isCutShort = wasCutShort && !watch.isPausedByUser() && !isReleased;
      const hindrance = isCutShort ? await findHindrance() : undefined;
      if (hindrance !== undefined) throw hindrance;
      if (
        !watch.isPausedByUser() &&
        !wasCutShort &&
        !isReleased &&
        (await endRun(database, lease, run.evaluators))
      )
        return;
      // Paused, released, or it has more evaluators now: the next process to take it continues.
      await releaseLease(database, lease, 0);
    } catch (error) {
      if (error instanceof LostRunError || isReleased) await releaseLease(database, lease, 0).catch(() => {});
      else if (error instanceof HinderedError || error instanceof InvalidEvaluatorsError)
        await postpone(error.message).catch(onError);
      else await retryLater(error);
    } finally {
      await watch.stop();
    }
  }

  async function postpone(reason: string): Promise<void> {
    await markAway(database, lease, reason);
    const now = await readDatabaseClock(database);
    await releaseLease(database, lease, now + Math.round(services.patience * retryAfterMs) * microsPerMs);
  }

  /** What is missing is still missing: whoever takes the run next does it. */
  async function retryLater(error: unknown): Promise<void> {
    controller.abort(error);
    onError(error);
    const reason = isStoreUnavailable(error)
      ? "The database could not store the run's work, for example because its disk is full; see the log."
      : "An internal error; see the log.";
    // If the store does not take this either, the lease runs out by itself.
    await postpone(reason).catch(onError);
  }

  const ended = workToTheEnd();
  return {
    look: watch.look,
    async release() {
      isReleased = true;
      controller.abort(new LostRunError());
      await ended;
    },
    ended,
  };
}

const renewEveryMs = 8_000;
/** So that a cancelled run stops within two seconds, whichever process works on it. */
const watchEveryMs = 700;

interface WatchOptions {
  /** Nothing is looked at once it is aborted. */
  signal: AbortSignal;
  /** Whether the run has what it needs: its deployment, and room on the disk. */
  mayGoOn(): Promise<boolean>;
  /** The run was cancelled or deleted, or another process has it. */
  onLost(): void;
  /** The run is still this process's. */
  onLooked(): Promise<void>;
  onError(error: unknown): void;
}

interface RunWatch {
  /** Looks at once. */
  look(): void;
  isPausedByUser(): boolean;
  /** Whether something that it needs was missing since the work began. */
  isHindered(): boolean;
  stop(): Promise<void>;
}

/** Looks again and again whether a run was cancelled or paused, and renews its lease. */
function watchRun(
  database: Database,
  lease: Lease,
  { signal, mayGoOn, onLost, onLooked, onError }: WatchOptions,
): RunWatch {
  let isPausedByUser = false;
  let isHindered = false;
  let renewedAtMs = performance.now();
  let looking: Promise<void> = Promise.resolve();
  let willLook = false;

  async function look(): Promise<void> {
    if (signal.aborted) return;
    const state = await readRunState(database, lease);
    if (state === undefined || state.status === "cancelled") onLost();
    else if (state.status === "paused" && state.paused_by === "user") isPausedByUser = true;
    else if (!(await mayGoOn())) isHindered = true;
    await onLooked();
    if (performance.now() - renewedAtMs < renewEveryMs) return;
    const now = await readDatabaseClock(database);
    if (!(await renewLease(database, { ...lease, until: now + runLeaseMs * microsPerMs }))) onLost();
    renewedAtMs = performance.now();
  }

  function lookSoon(): void {
    // While the store is slow, looks would pile up.
    if (willLook) return;
    willLook = true;
    looking = looking
      .then(() => {
        willLook = false;
        return look();
      })
      // A store that is away for longer than the lease costs the run, which fails the next write.
      .catch(onError);
  }

  const timer = setInterval(lookSoon, watchEveryMs);
  return {
    look: lookSoon,
    isPausedByUser: () => isPausedByUser,
    isHindered: () => isHindered,
    async stop() {
      clearInterval(timer);
      await looking;
    },
  };
}
