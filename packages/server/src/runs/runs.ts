import { setTimeout as sleep } from "node:timers/promises";
import { type ListedRun, maxRunEvaluators, type RunHeadline, type RunStatus } from "@presage/contract";
import { mainEvaluator } from "@presage/contract/describe-runs";
import type { Registry } from "../evaluators/registry.ts";
import { resolveEvaluators, type WantedEvaluator } from "../evaluators/resolve-evaluators.ts";
import { type Changer, recordChange } from "../platform/audit.ts";
import { conflict, notFound } from "../platform/errors.ts";
import { type Prices, withoutNoise } from "../platform/prices.ts";
import { databaseNow } from "../platform/storage/clock.ts";
import type { KeysetPage, ListPart } from "../platform/storage/lists.ts";
import type { GoalsTable } from "../platform/storage/schema/runs.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { inTransaction, type Requester, type Store } from "../platform/storage/store.ts";
import { type ClientCounts, withClientCounts } from "./client/client-counts.ts";
import { extendEvaluators, forgetFailedVerdicts, judgeMissing } from "./evaluators-store.ts";
import { judgeGoal, selectGoalsOf } from "./goals.ts";
import { type Baselines, findBaseline, readBaselines } from "./headlines/baselines.ts";
import { type HeadedRun, type StoredHeadline, withHeadline } from "./headlines/headlines-store.ts";
import {
  isClientRun,
  isPreliminary,
  isSameEvaluator,
  isSameNamed,
  type Run,
  type RunEvaluator,
  type RunQueue,
  runCost,
  toRun,
} from "./run.ts";
import {
  deleteSomeOfDiscardedRun,
  discardRun,
  lockRun,
  type RunFilter,
  resumedStatus,
  selectRun,
  selectRuns,
  updateStatus,
} from "./runs-store.ts";

/** The services for showing runs: the counts of client runs come from their results. */
export interface FindNeeds {
  store: Store;
  clientCounts: ClientCounts;
}

interface Services extends FindNeeds {
  runs: RunQueue;
}

interface StatusChange {
  from: readonly RunStatus[];
  change(writer: Database): StatusColumns | Promise<StatusColumns>;
  /** Whether a run already has the wanted status. */
  isDone(run: Run): boolean;
  verb: string;
  action: "run.cancel" | "run.finish" | "run.pause" | "run.resume";
}

type StatusColumns = Parameters<typeof updateStatus>[4];
const unfinished: readonly RunStatus[] = ["queued", "running", "paused"];
const unheld = { lease_id: null, lease_until: 0 };

const pauseMs = 10;

export async function findRun(services: FindNeeds, requester: Requester, id: string): Promise<Run> {
  const run = await selectRun(services.store.briefReader(requester), requester.accountId, id);
  if (run === undefined) throw notFound("run");
  const [found = run] = await withClientCounts(services, requester, [run]);
  return found;
}

/** For figures from several reads: throws if a run was deleted meanwhile, because some of its rows may have been missing. */
export async function refuseDeleted(
  { store }: { store: Store },
  requester: Requester,
  runs: readonly Pick<Run, "id">[],
): Promise<void> {
  const reader = store.briefReader(requester);
  for (const { id } of runs) {
    if ((await selectRun(reader, requester.accountId, id)) === undefined) throw notFound("run");
  }
}

/** One page of an account's runs, newest first. */
export async function listRuns(
  services: FindNeeds,
  requester: Requester,
  filter: RunFilter,
  page: KeysetPage,
): Promise<ListPart<HeadedRun>> {
  const reader = services.store.briefReader(requester);
  const { rows, next } = await selectRuns(reader, requester.accountId, filter, page);
  return { rows: await withClientCounts(services, requester, rows.map(withHeadline)), next };
}

/** Runs as lists show them. */
export async function toListedRuns(
  { store }: { store: Store },
  requester: Requester,
  runs: readonly HeadedRun[],
  prices: Prices | undefined,
  goalOf?: (run: Run) => GoalsTable | undefined,
): Promise<ListedRun[]> {
  const reader = store.briefReader(requester);
  const goals = goalOf ? undefined : await selectGoalsOf(reader, requester.accountId, runs);
  const baselines = await readBaselines(reader, requester.accountId, runs);
  return runs.map((run) => toListedRun(run, goalOf?.(run) ?? goals?.get(run.name), baselines, prices));
}

/** Ends a run and keeps its predictions. Cancelling it again changes nothing. */
export async function cancelRun(services: Services, requester: Changer, id: string): Promise<Run> {
  return await changeStatus(services, requester, id, {
    from: unfinished,
    change: (writer) => ({
      status: "cancelled",
      status_reason: null,
      paused_by: null,
      finished_at: databaseNow(writer),
    }),
    isDone: ({ status }) => status === "cancelled",
    verb: "cancelled",
    action: "run.cancel",
  });
}

/** Stops a run until it is resumed. Predictions in progress are finished. */
export async function pauseRun(services: Services, requester: Changer, id: string): Promise<Run> {
  await refuseClientRun(services, requester, id);
  return await changeStatus(services, requester, id, {
    from: unfinished,
    change: () => ({ status: "paused", status_reason: null, paused_by: "user" }),
    isDone: (run) => run.paused_by === "user",
    verb: "paused",
    action: "run.pause",
  });
}

/** Resumes a paused run. */
export async function resumeRun(services: Services, requester: Changer, id: string): Promise<Run> {
  const run = await refuseClientRun(services, requester, id);
  return await changeStatus(services, requester, id, {
    from: ["paused"],
    change: () => ({
      status: resumedStatus,
      status_reason: null,
      paused_by: null,
      // A process that waits for the deployment loses the run, so that the deployment is tried immediately.
      ...(run.paused_by === "deployment" && unheld),
    }),
    isDone: ({ status }) => status === "running" || status === "queued",
    verb: "resumed",
    action: "run.resume",
  });
}

/** Ends a paused run without its missing predictions, which count as failed. Existing predictions are still evaluated. */
export async function finishRun(services: Services, requester: Changer, id: string): Promise<Run> {
  await refuseClientRun(services, requester, id);
  return await changeStatus(services, requester, id, {
    from: ["paused"],
    async change(writer) {
      // Read under the lock: it may have changed since the run was found.
      const run = await lockRun(writer, requester.accountId, id);
      const provenance = JSON.stringify({ ...run?.provenance, finished_early: true });
      return { status: "running", status_reason: null, paused_by: null, provenance, ...unheld };
    },
    isDone: ({ status, provenance }) => status === "finished" || provenance.finished_early === true,
    verb: "finished",
    action: "run.finish",
  });
}

/** Runs never change their target, so it is enough to look beforehand. */
async function refuseClientRun(services: Services, requester: Requester, id: string): Promise<Run> {
  const run = await findRun(services, requester, id);
  if (isClientRun(run))
    throw conflict("The run's target is external: only its client can stop or resume it.");
  return run;
}

async function changeStatus(
  services: Services,
  requester: Changer,
  id: string,
  { from, change, isDone, verb, action }: StatusChange,
): Promise<Run> {
  const changed = await inTransaction(services.store, requester, async (transaction) => {
    const values = await change(transaction);
    const updated = await updateStatus(transaction, requester.accountId, id, from, values);
    if (updated !== undefined) await recordChange(transaction, requester, action, id, { name: updated.name });
    return updated;
  });
  if (changed !== undefined) {
    services.runs.wake();
    const [found = changed] = await withClientCounts(services, requester, [changed]);
    return found;
  }
  const run = await findRun(services, requester, id);
  if (isDone(run)) return run;
  throw conflict(`The run is ${run.status} and cannot be ${verb}.`);
}

/** The evaluators of a run, without duplicates: the first one counts. Throws an `InvalidEvaluatorsError`. */
export async function toRunEvaluators(
  services: { store: Store; registry: Registry },
  accountId: string,
  wanted: readonly WantedEvaluator[],
): Promise<RunEvaluator[]> {
  const resolved = await resolveEvaluators(services, accountId, wanted);
  const all = resolved.map(({ id, family, profile, explainStrategy }): RunEvaluator => {
    const { name, publicId, revision } = profile;
    return { id, family: family.name, profile: { name, publicId, revision }, explainStrategy };
  });
  return all.filter((one, index) => all.findIndex((other) => isSameEvaluator(one, other)) === index);
}

/** Has more evaluators judge a run's predictions; those that it has already try their failed verdicts again. No prediction is repeated. */
export async function addEvaluators(
  services: { store: Store; registry: Registry; runs: RunQueue },
  requester: Changer,
  id: string,
  wanted: readonly WantedEvaluator[],
): Promise<Run> {
  const { accountId } = requester;
  const resolved = await toRunEvaluators(services, accountId, wanted);
  const changed = await inTransaction(services.store, requester, async (transaction) => {
    const run = await lockRun(transaction, accountId, id);
    if (run === undefined) throw notFound("run");
    if (run.target.kind === "external")
      throw conflict("The run's target is external: it has no predictions to evaluate.");
    if (run.status === "cancelled" || run.status === "failed")
      throw conflict(`The run is ${run.status}; its predictions cannot be evaluated.`);
    const added = resolved.filter((one) => !run.evaluators.some((known) => isSameEvaluator(one, known)));
    const again = run.evaluators.flatMap((known, place) =>
      resolved.some((one) => isSameEvaluator(one, known)) ? [place] : [],
    );
    const isAgain = await forgetFailedVerdicts(transaction, run, again);
    if (added.length === 0 && !isAgain) return run;
    refuseRevised(run, added);
    const evaluators = [...run.evaluators, ...added];
    if (evaluators.length > maxRunEvaluators)
      throw conflict(`A run may have at most ${maxRunEvaluators} evaluators.`);
    await recordChange(transaction, requester, "run.add_evaluators", id, {
      name: run.name,
      evaluators: (added.length === 0 ? resolved : added).map((one) => one.id),
    });
    return added.length === 0
      ? await judgeMissing(transaction, run)
      : await extendEvaluators(transaction, run, evaluators);
  });
  services.runs.wake();
  return changed;
}

/** Verdicts of two revisions of a profile would have the same name in figures, filters, labels and exports. */
function refuseRevised({ evaluators }: Run, added: readonly RunEvaluator[]): void {
  for (const { id, profile } of added) {
    const known = evaluators.find((one) => one.id === id && one.profile.name === profile.name);
    if (known !== undefined)
      throw conflict(
        `The run is judged by revision ${known.profile.revision} of the profile ${profile.name}, which has revision ${profile.revision} now. Give the new one another name, or make another run with these predictions.`,
      );
  }
}

/** Deletes a run with its predictions and verdicts, a few at a time. Its evaluation results stay. */
export async function deleteRun(services: Pick<Services, "store" | "runs">, requester: Changer, id: string) {
  const { accountId } = requester;
  await inTransaction(services.store, requester, async (transaction) => {
    if (!(await discardRun(transaction, accountId, id))) throw notFound("run");
    await recordChange(transaction, requester, "run.delete", id);
  });
  services.runs.wake();
}

/** Deletes the rows of deleted runs. If the process ends early, the next server continues. */
export async function sweepRuns(database: Database): Promise<void> {
  while (await deleteSomeOfDiscardedRun(database)) await sleep(pauseMs);
}

/** A run as lists show it: with the headline of the goal's evaluator, at today's prices. */
function toListedRun(
  run: HeadedRun,
  goal: GoalsTable | undefined,
  baselines: Baselines,
  prices: Prices | undefined,
): ListedRun {
  const { headline } = run;
  const evaluators = headline?.evaluators ?? [];
  const isOpen = headline === null && isPreliminary(run);
  return {
    ...toRun(run),
    headline: headline && toHeadline(run, headline, goal, baselines, prices),
    goal: goal === undefined ? null : judgeGoal(goal, evaluators, run.provenance, isOpen),
  };
}

function toHeadline(
  run: Run,
  { evaluators, asked, tokens, against = [] }: StoredHeadline,
  goal: GoalsTable | undefined,
  baselines: Baselines,
  prices: Prices | undefined,
): RunHeadline | null {
  const found = mainEvaluator(evaluators, goal);
  if (found === undefined) return null;
  // Older headlines include `no_change` for free-running runs as well.
  const figures = run.mode === "free-running" ? { ...found, no_change: null } : found;
  const baseline = findBaseline(run, figures, baselines);
  const compared = against.find((one) => one.run_id === baseline?.run_id && isSameNamed(one, figures));
  const main = { ...figures, baseline, baseline_outcome: compared?.outcome ?? null };
  const tokensByModel = new Map(
    tokens.map(({ model, prompt_tokens: prompt, cached_tokens: cached, completion_tokens: completion }) => [
      model,
      { prompt, cached, completion },
    ]),
  );
  const cost = runCost(run, tokensByModel, prices);
  if (cost === null) return { ...main, cost: null };
  const { currency, total, unpriced_tokens } = cost;
  const isWhole = total !== null && unpriced_tokens === 0 && asked > 0;
  return {
    ...main,
    cost: {
      currency,
      total,
      unpriced_tokens,
      per_1000: isWhole ? withoutNoise((1000 * total) / asked) : null,
    },
  };
}
