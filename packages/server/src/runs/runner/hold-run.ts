import { InvalidEvaluatorsError } from "../../evaluators/resolve-evaluators.ts";
import { readDatabaseClock } from "../../platform/storage/database-clock.ts";
import { microsPerMs } from "../../platform/storage/micros.ts";
import { isStoreUnavailable } from "../../platform/storage/store-error.ts";
import type { Run } from "../run.ts";
import { createPace, type Pace } from "./pace.ts";
import { endRun, markAway, releaseLease, saveProvenance } from "./run-leases-store.ts";
import { watchRun } from "./watch-run.ts";
import { type RunnerServices, workOnRun } from "./work-on-run.ts";
import { createWorkWriter, LostRunError } from "./work-writer.ts";

/** A deployment that names each response's model differently would make the run's row grow. */
const maxModels = 100;
/** When to look again at a run that cannot be worked on now. */
const retryAfterMs = 10_000;

/** The deployment of a run was removed, or the disk has too little room. */
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

export interface HeldRun {
  /** Looks at once whether the run was cancelled or paused. */
  look(): void;
  /** Lets another process take the run. Resolves once this one has stopped. */
  release(): Promise<void>;
  /** Resolves once this process no longer works on it. Never rejects. */
  ended: Promise<void>;
}

/** Works on a run whose lease this process has, until it has ended, is paused, or the process stops. */
export function holdRun(
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
  const pace = createPace(run.concurrency, {
    onAway: (reason, failures) => say(`The deployment failed ${failures} times in a row: ${reason}`),
    onBack: () => say(undefined),
  });

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
    const { target, provenance } = run;
    const isGone =
      target.kind === "deployment" &&
      !provenance.finished_early &&
      !services.runs.hasDeployment(target.deployment);
    if (isGone)
      return new HinderedError(`There is no deployment named ${JSON.stringify(target.deployment)} now.`);
    const shortage = await services.runs.findShortage();
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
    if (dataset === undefined) throw new Error("A run without a dataset has nothing to work on");
    // It may have been away for another process, or for this one before.
    if (run.status === "paused") await markAway(database, lease, undefined);
    const reader = services.store.reader({ accountId: run.accountId, signal });
    const span = services.runs.startSpan?.({ id: run.id, name: run.name, datasetId: dataset.datasetId });
    const working = workOnRun({
      services,
      run: { ...run, dataset },
      span,
      reader,
      writer: createWorkWriter({ runId: run.id, leaseId }, services.runs.writeWork),
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
    await releaseLease(database, lease, now + retryAfterMs * microsPerMs);
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
