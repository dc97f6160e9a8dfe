import { InvalidEvaluatorsError } from "../../evaluators/resolve-evaluators.ts";
import { readDatabaseClock } from "../../platform/storage/clock.ts";
import { microsPerMs } from "../../platform/storage/columns.ts";
import { type Looker, startLooking } from "../../platform/storage/leases.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { isPostgres } from "../../platform/storage/store.ts";
import { isStoreUnavailable } from "../../platform/storage/store-error.ts";
import { isAboutExamples } from "../../worlds/world.ts";
import { keepHeadlines } from "../headlines/headline.ts";
import { isOfDeadProcess, type Lease, newLeaseId, type Run, type RunTries, runLeaseMs } from "../run.ts";
import { deleteSomeOfDiscardedRun } from "../runs-store.ts";
import { findTarget } from "./ask-deployment.ts";
import { createPace, type Pace } from "./pace.ts";
import {
  createWorkWriter,
  LostRunError,
  type RunnerServices,
  type RunWorker,
  workOnRun,
} from "./work-on-run.ts";
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
/** Runs that this process works on at the same time; others wait, or are taken by other processes. */
const maxRuns = 16;
/** The most runs of one account, so that its long runs leave room for others'. */
const maxRunsEach = 8;

export interface Runner {
  /** Looks for work immediately, because a run was created, resumed, cancelled or paused. */
  wake(): void;
  /** Stops, and leaves this process's runs to other processes. */
  stop(): Promise<void>;
}

/** Works on runs that no other process works on, as they appear in the store, or only on a given one. */
export function startRunner(
  services: RunnerServices,
  onError: (error: unknown) => void,
  only?: Lease,
): Runner {
  const { database } = services.store;
  /** Runs that this process works on, with their accounts. */
  const held = new Map<HeldRun, string>();
  /** Leases of runs that this process no longer works on, until the store has been told. */
  const left = new Set<Lease>();
  const headlines = keepHeadlines(services, onError);

  async function takeRuns(signal: AbortSignal): Promise<void> {
    await giveBack(database, left);
    while (!signal.aborted && held.size < (only === undefined ? maxRuns : 1)) {
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
        looker.schedule();
      });
    }
  }

  async function look(signal: AbortSignal): Promise<void> {
    await releaseStuck(database);
    await takeRuns(signal);
    if (!signal.aborted) await deleteSomeOfDiscardedRun(database);
    headlines.schedule();
  }

  const looker = startLooking({ look, intervalMs: lookEveryMs, onFailure: onError });
  return {
    wake() {
      for (const run of held.keys()) run.look();
      looker.schedule();
    },
    async stop() {
      await Promise.all([looker.stop(), headlines.stop()]);
      await Promise.all(Array.from(held.keys(), (run) => run.release()));
    },
  };
}

/** Releases runs after an outage of the store, so that they continue as soon as it is back rather than when their leases end. */
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

/** Processes that share an SQLite file are on one machine, so it can be told whether they are alive. */
async function releaseStuck(database: Database): Promise<void> {
  const hasEnded = isPostgres(database) ? () => false : isOfDeadProcess;
  await releaseStuckRuns(database, await readDatabaseClock(database), hasEnded);
}

/** A deployment that names each response's model differently would make the run's row grow. */
const maxModels = 100;
/** When to look again at a run that cannot be worked on now. */
const retryAfterMs = 10_000;

/** The run's deployment or world was removed, the disk has too little room, or a budget is spent. */
class HinderedError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "HinderedError";
  }
}

const waits = [
  ["rate", "rate limits of the deployment"],
  ["memory", "memory for responses (PRESAGE_MEMORY_BUDGET_BYTES)"],
  ["outages", "the deployment to respond"],
] as const;

/** A run's notes with its waiting times, in sentences, each added to the earlier waiting time. */
function withWaits(notes: readonly string[], waitedMs: ReturnType<Pace["waitedMs"]>): string[] {
  let all = [...notes];
  for (const [by, what] of waits) {
    const isOf = (note: string) => note.endsWith(` s for ${what}.`);
    const before = all.filter(isOf).map((note) => Number(/\d+/.exec(note)?.[0]));
    const seconds = before.reduce((sum, one) => sum + one, Math.ceil(waitedMs[by] / 1000));
    all = all.filter((note) => !isOf(note));
    if (seconds > 0) all.push(`Waited ${seconds} s for ${what}.`);
  }
  return all;
}

interface HeldRun {
  /** Checks immediately whether the run was cancelled or paused. */
  look(): void;
  /** Lets another process take the run. Resolves once this one has stopped. */
  release(): Promise<void>;
  /** Resolves once this process no longer works on the run. Never rejects. */
  ended: Promise<void>;
}

/** Works on a run whose lease this process has, until the run has ended or is paused, or the process stops. */
function holdRun(
  services: RunnerServices,
  run: Run,
  lease: Lease,
  onError: (error: unknown) => void,
): HeldRun {
  const { database } = services.store;
  const controller = new AbortController();
  const { signal } = controller;
  let isReleased = false;
  const progress = followProgress(services, run, lease);

  const mayGoOn = async () => (await findHindrance(services, run, signal)) === undefined;
  const onLost = () => controller.abort(new LostRunError());
  // Calls in progress are finished, even on a removed deployment, and no further ones are made.
  const watch = watchRun(database, lease, { signal, mayGoOn, onLost, onLooked: progress.save, onError });
  /** Whether something was left to ask when the run was hindered. */
  let wasCutShort = false;
  /** Why a budget does not pay for more. */
  let refusal: string | undefined;
  const isLeft = () => watch.isPausedByUser() || isReleased;

  function isStopping(): boolean {
    const isHindered = watch.isHindered() || refusal !== undefined;
    wasCutShort ||= isHindered;
    return isHindered || isLeft();
  }

  async function workToTheEnd(): Promise<void> {
    try {
      const onRefused = (reason: string) => {
        refusal = reason;
        wasCutShort = true;
      };
      await workOnHeld(services, run, lease, { progress, signal, isStopping, onRefused })
        .finally(progress.allSaid)
        .finally(progress.save);
      if (refusal !== undefined && !isLeft()) throw new HinderedError(refusal);
      const hindrance = wasCutShort && !isLeft() ? await findHindrance(services, run, signal) : undefined;
      if (hindrance !== undefined) throw hindrance;
      if (!isLeft() && !wasCutShort && (await endRun(database, lease, run.evaluators))) return;
      // The run is paused or released, or has more evaluators now: the next process to take it continues.
      await releaseLease(database, lease, 0);
    } catch (error) {
      if (error instanceof LostRunError || isReleased) await releaseLease(database, lease, 0).catch(() => {});
      else if (error instanceof HinderedError || error instanceof InvalidEvaluatorsError)
        await postpone(services, lease, error.message).catch(onError);
      else {
        // The work is still missing, and the next process to take the run does it.
        controller.abort(error);
        if (!isAboutExamples(error)) onError(error);
        // If the store does not accept this either, the lease expires.
        await postpone(services, lease, describeFailure(error)).catch(onError);
      }
    } finally {
      await watch.stop();
    }
  }

  const ended = workToTheEnd();
  return {
    look: watch.schedule,
    async release() {
      isReleased = true;
      onLost();
      await ended;
    },
    ended,
  };
}

function describeFailure(error: unknown): string {
  if (isAboutExamples(error)) return error.message;
  return isStoreUnavailable(error)
    ? "The database could not store the run's work, for example because its disk is full; see the log."
    : "An internal error; see the log.";
}

interface HeldWork extends Pick<RunWorker, "signal" | "isStopping" | "onRefused"> {
  progress: Progress;
}

async function workOnHeld(
  services: RunnerServices,
  run: Run,
  lease: Lease,
  { progress, signal, isStopping, onRefused }: HeldWork,
): Promise<void> {
  const { dataset } = run;
  const { database } = services.store;
  const hindrance = await findHindrance(services, run, signal);
  if (hindrance !== undefined) throw hindrance;
  const target = await findTarget(services, run, signal);
  if ("reason" in target) throw new HinderedError(target.reason);
  if (dataset === undefined) throw new Error("A run without a dataset has nothing to work on");
  // The run may have been paused because its deployment was away, for this or another process.
  if (run.status === "paused") await markAway(database, lease, undefined);
  const span = services.startSpan?.({ id: run.id, name: run.name, datasetId: dataset.datasetId });
  const working = workOnRun({
    services,
    run: { ...run, dataset },
    world: target.world,
    span,
    reader: services.store.reader({ accountId: run.account_id, signal }),
    writer: createWorkWriter({ runId: run.id, leaseId: lease.leaseId }, services.writeWork),
    pace: progress.pace,
    tries: progress.tries,
    signal,
    isStopping,
    onRefused,
    onModel: progress.addModel,
  });
  span?.endAfter(working);
  await working;
}

/** The reason why a run cannot be worked on now, if any. */
async function findHindrance(services: RunnerServices, run: Run, signal: AbortSignal) {
  const target = await findTarget(services, run, signal);
  if ("reason" in target) return new HinderedError(target.reason);
  const shortage = await services.findShortage();
  return shortage === undefined ? undefined : new HinderedError(shortage);
}

async function postpone({ store: { database }, patience }: RunnerServices, lease: Lease, reason: string) {
  await markAway(database, lease, reason);
  const now = await readDatabaseClock(database);
  await releaseLease(database, lease, now + Math.round(patience * retryAfterMs) * microsPerMs);
}

/** The facts about a run that become known during work on it. */
interface Progress {
  pace: Pace;
  /** Counted up with each failed call. */
  tries: RunTries;
  addModel(model: string): void;
  /** Stores the progress, unless it is stored already. */
  save(): Promise<void>;
  /** Resolves once the store knows whether the run waits for its deployment. */
  allSaid(): Promise<void>;
}

function followProgress({ store: { database }, patience }: RunnerServices, run: Run, lease: Lease): Progress {
  const models = new Set(run.provenance.models);
  const tries = structuredClone(run.tries) ?? { retried: {}, timed_out: 0 };
  let said: Promise<void> = Promise.resolve();

  /** Records why the run waits, or that it no longer does. In order, so that the last report stays. */
  function say(reason: string | undefined): void {
    said = said.then(() => markAway(database, lease, reason)).catch(() => {});
  }

  const listeners = {
    onAway: (reason: string, failures: number) =>
      say(`The deployment failed ${failures} times in a row: ${reason}`),
    onBack: () => say(undefined),
  };
  const pace = createPace(run.concurrency, listeners, { patience });

  function know(): Pick<Run, "provenance" | "notes" | "tries"> {
    return {
      provenance: { ...run.provenance, models: [...models] },
      notes: withWaits(run.notes, pace.waitedMs()),
      tries: run.tries && { ...tries, at_once: pace.atOnce() },
    };
  }

  let saved = JSON.stringify(know());
  return {
    pace,
    tries,
    addModel(model) {
      if (models.size < maxModels) models.add(model);
    },
    async save() {
      const known = JSON.stringify(know());
      if (known === saved) return;
      await saveProvenance(database, lease, know());
      saved = known;
    },
    allSaid: () => said,
  };
}

const renewEveryMs = 8_000;
/** Makes a cancelled run stop within two seconds, whichever process works on it. */
const watchEveryMs = 700;

interface WatchOptions {
  /** When it is aborted, looking stops. */
  signal: AbortSignal;
  /** Whether the run has what it needs: its deployment, and room on the disk. */
  mayGoOn(): Promise<boolean>;
  /** Called if the run was cancelled or deleted, or another process has it. */
  onLost(): void;
  /** Called after each look. */
  onLooked(): Promise<void>;
  onError(error: unknown): void;
}

interface RunWatch extends Looker {
  isPausedByUser(): boolean;
  /** Whether something that the run needs was missing at any time since the work began. */
  isHindered(): boolean;
}

/** Checks repeatedly whether a run was cancelled or paused, and renews its lease. */
function watchRun(
  database: Database,
  lease: Lease,
  { signal, mayGoOn, onLost, onLooked, onError }: WatchOptions,
): RunWatch {
  let isPausedByUser = false;
  let isHindered = false;
  let renewedAtMs = performance.now();

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

  // If the store is away for longer than the lease, the run is lost, and the next write fails.
  const looker = startLooking({
    look,
    intervalMs: watchEveryMs,
    firstAfterInterval: true,
    onFailure: onError,
  });
  return { ...looker, isPausedByUser: () => isPausedByUser, isHindered: () => isHindered };
}
