import { setTimeout as sleep } from "node:timers/promises";
import type { DatasetLine, RealityCheckSelection } from "@presage/contract";
import { createDataset, deleteDataset, findNamedDataset, removeRevision } from "../datasets/datasets.ts";
import type { Revision } from "../datasets/datasets-store.ts";
import { ownLines } from "../datasets/traces/import-options.ts";
import type { DatasetUploads } from "../datasets/upload/upload-revision.ts";
import { findUnlessDeleted, linesOf, toJsonLines } from "../environments/episodes/episode-lines.ts";
import { selectSteps } from "../environments/episodes/episodes-store.ts";
import { InvalidRequestError, valueError } from "../http/validate.ts";
import type { Changer } from "../platform/audit.ts";
import { conflict, UploadError } from "../platform/errors.ts";
import { neverAborted } from "../platform/limits/deadline.ts";
import { withLease } from "../platform/storage/leases.ts";
import type { RealityChecksTable, RealityEpisodesTable } from "../platform/storage/schema/reality.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import { createRun, type NewRun } from "../runs/create-run.ts";
import type { PredictionsUploads } from "../runs/imported.ts";
import type { Run } from "../runs/run.ts";
import { deleteRun, toRunEvaluators } from "../runs/runs.ts";
import { selectRun } from "../runs/runs-store.ts";
import { findCheck } from "./checks.ts";
import { selectEpisodePage, selectRealSteps, updateRunOf } from "./checks-store.ts";

/** An action's real outcome, as a line of a dataset, and what the simulation answered. */
interface RealStep {
  line: DatasetLine;
  /** Undefined if the simulation had ended. */
  simulated: string | undefined;
}

const episodesAtOnce = 200;

/** The real steps of a check, episode by episode: all steps, or those before the two diverge. */
async function* readRealSteps(
  services: { store: Store },
  requester: Requester,
  check: RealityChecksTable,
  { untilDivergence }: { untilDivergence: boolean },
): AsyncGenerator<RealStep[], void> {
  const reader = services.store.reader(requester);
  for (let after = 0; ; ) {
    const rows = await selectEpisodePage(reader, check.id, { after, limit: episodesAtOnce });
    for (const row of rows) {
      const steps = await stepsOf(services, requester, check, row);
      const until = untilDivergence ? row.diverged_at : null;
      if (steps.length > 0) yield until === null ? steps : steps.slice(0, until);
    }
    if (rows.length < episodesAtOnce) return;
    after = Number(rows.at(-1)?.position);
  }
}

/** Empty if the episode was not replayed or has been deleted since. */
async function stepsOf(
  services: { store: Store },
  requester: Requester,
  check: RealityChecksTable,
  row: RealityEpisodesTable,
): Promise<RealStep[]> {
  const { episode_id: id, diverged_at } = row;
  if (id === null || row.steps === null) return [];
  const episode = await findUnlessDeleted(services, requester, id);
  if (episode === undefined) return [];
  const reader = services.store.reader(requester);
  const simulated = await selectSteps(reader, id, 0);
  const { first, steps } = await selectRealSteps(reader, row);
  const { config, task } = episode;
  const real = {
    ...episode,
    config: { ...config, prompt_form: "state-action" as const },
    task: { ...task, initial_state: first ?? task.initial_state },
  };
  const taken = steps.map((step) => ({ ...step, terminated: step.done, truncated: 0 as const }));
  return linesOf(real, taken)
    .map((line, index) => {
      // The status and outcome of the simulation are not what really happened.
      const { status: _, outcome: __, ...tags } = line.tags ?? {};
      const ofCheck = {
        reality_check: check.id,
        ...(check.real !== null && { real_environment: check.real }),
        diverged: String(diverged_at !== null && index >= diverged_at),
      };
      return { line: { ...line, tags: { ...tags, ...ofCheck } }, simulated: simulated[index]?.observation };
    })
    .toArray();
}

/** Dataset lines in which each replayed episode of the checks is a trajectory of what really happened. */
export async function* readRealityLines(
  services: { store: Store },
  requester: Requester,
  { ids, until_divergence }: RealityCheckSelection,
): AsyncGenerator<Uint8Array, void> {
  const checks: RealityChecksTable[] = [];
  for (const [index, id] of ids.entries()) {
    const check = await findCheck(services, requester, id);
    if (check.source === "pairs")
      throw new InvalidRequestError([
        valueError(["body", "ids", index], "For pairs, only the outcomes are known, not the real steps"),
      ]);
    checks.push(check);
  }
  const known = new Set<string>();
  for (const check of checks) {
    const options = { untilDivergence: until_divergence === true };
    for await (const steps of readRealSteps(services, requester, check, options)) {
      const [episode = ""] = steps.map(({ line }) => line.trajectory_id);
      if (known.has(episode)) continue;
      known.add(episode);
      yield* toJsonLines(steps.map(({ line }) => line));
    }
  }
}

export type CheckRunServices = Parameters<typeof createRun>[0] & {
  datasets: DatasetUploads & { uploads: PredictionsUploads };
};

interface WantedCheckRun extends Pick<NewRun, "evaluators" | "userId"> {
  checkId: string;
  /** Whether it includes the steps from the first divergence on. */
  isWhole: boolean;
}

interface FoundRun {
  run: Run;
  isNew: boolean;
}

const lookAgainMs = 200;
const renewEveryMs = 1_000;

/** The run whose predictions are the simulation's answers and whose dataset is what really happened. All callers get the same run. */
export async function runOfCheck(
  services: CheckRunServices,
  requester: Changer,
  wanted: WantedCheckRun,
): Promise<FoundRun> {
  const lease = { name: `reality-run/${wanted.checkId}`, holder: Bun.randomUUIDv7() };
  const { signal } = requester;
  for (;;) {
    const found: FoundRun[] = [];
    await withLease(services.store.database, lease, signal, async (held) => {
      const timer = setInterval(() => void held.renew().catch(() => {}), renewEveryMs);
      const holding = { ...requester, signal: held.signal };
      found.push(await findOrMake(services, holding, wanted).finally(() => clearInterval(timer)));
    });
    if (found[0] !== undefined) return found[0];
    await sleep(lookAgainMs, undefined, { signal });
  }
}

async function findOrMake(
  services: CheckRunServices,
  requester: Changer,
  wanted: WantedCheckRun,
): Promise<FoundRun> {
  const { accountId } = requester;
  const check = await findCheck(services, requester, wanted.checkId);
  if (check.status === "running" || check.status === "paused")
    throw conflict(`The reality check is ${check.status}. Its run is made once it has ended.`);
  const id = wanted.isWhole ? check.whole_run_id : check.run_id;
  const run = id === null ? undefined : await selectRun(services.store.database, accountId, id);
  if (run !== undefined && run.status !== "queued") return { run, isNew: false };
  // Left behind by a process that died before the run had its predictions.
  if (run !== undefined) await deleteRun(services, requester, run.id);
  await toRunEvaluators(services, accountId, wanted.evaluators);
  return { run: await makeRun(services, requester, check, wanted), isNew: true };
}

/** If any step fails, the run is deleted again, with the dataset or the revision that was made for it. */
async function makeRun(
  services: CheckRunServices,
  requester: Changer,
  check: RealityChecksTable,
  { isWhole, ...wanted }: WantedCheckRun,
): Promise<Run> {
  const { accountId, actor, signal } = requester;
  const { uploads, maxBytes, floor, quotaBytes, sweeper } = services.datasets;
  const name = `${[...check.name].slice(0, 120).join("")} (reality check ${check.id}${isWhole ? ", all steps" : ""})`;
  // The dataset of a deleted run has the same steps.
  const known = await findNamedDataset(services, requester, name);
  const dataset = known ?? (await createDataset(services, requester, { name, userId: wanted.userId }));
  let run: Run | undefined;
  let added: Revision | undefined;
  try {
    const lines = (toLine: (step: RealStep) => object) =>
      linesOfCompared(readRealSteps(services, requester, check, { untilDivergence: !isWhole }), toLine);
    const upload = { accountId, actor, isGzip: false, maxBytes, floor, quotaBytes };
    const { revision, isNew } = await uploads
      .uploadRevision(
        { ...ownLines, ...upload, datasetId: dataset.id, isAppended: false },
        lines(({ line }) => line),
        signal,
      )
      .catch(refuseSteps);
    if (isNew) added = revision;
    run = await createRun(
      services,
      requester,
      {
        ...wanted,
        name: check.name,
        dataset_id: dataset.id,
        revision: revision.number,
        target: { predictions: "imported" },
        tags: { reality_check: check.id },
      },
      undefined,
    );
    await updateRunOf(
      services.store.writer(requester),
      check.id,
      isWhole ? "whole_run_id" : "run_id",
      run.id,
    );
    const predictions = lines(({ line: { trajectory_id, step }, simulated: prediction }) => ({
      trajectory_id,
      step,
      prediction,
    }));
    await uploads.uploadPredictions({ ...upload, runId: run.id }, predictions, signal);
    services.runs.wake();
    return run;
  } catch (error) {
    const always = { ...requester, signal: neverAborted };
    if (run !== undefined) await deleteRun(services, always, run.id).catch(() => {});
    if (known === undefined)
      await deleteDataset(services, always, { id: dataset.id, withRuns: false }).catch(() => {});
    else if (added !== undefined)
      await removeRevision(services, always, { datasetId: dataset.id, revision: added }).catch(() => {});
    throw error;
  } finally {
    sweeper.schedule();
  }
}

/** Lines of steps that the simulation took too. */
async function* linesOfCompared(
  episodes: AsyncIterable<RealStep[]>,
  toLine: (step: RealStep) => object,
): AsyncGenerator<Uint8Array, void> {
  for await (const steps of episodes)
    yield* toJsonLines(steps.filter(({ simulated }) => simulated !== undefined).map(toLine));
}

function refuseSteps(error: unknown): never {
  if (!(error instanceof UploadError)) throw error;
  const [fault] = error.faults;
  const reason = fault?.line === undefined ? "The reality check has no replayed steps." : fault.reason;
  throw conflict(reason);
}
