import { setTimeout as sleep } from "node:timers/promises";
import { createDataset, deleteDataset, findNamedDataset } from "../datasets/datasets.ts";
import { ownLines } from "../datasets/traces/import.ts";
import type { DatasetUploads } from "../datasets/upload/upload-revision.ts";
import { toJsonLines } from "../environments/episodes/episode-lines.ts";
import type { Changer } from "../platform/audit.ts";
import { conflict, UploadError } from "../platform/errors.ts";
import { withLease } from "../platform/storage/leases.ts";
import type { RealityChecksTable } from "../platform/storage/schema/reality.ts";
import { createRun, type NewRun } from "../runs/create-run.ts";
import type { PredictionsUploads } from "../runs/imported.ts";
import type { Run } from "../runs/run.ts";
import { deleteRun, toRunEvaluators } from "../runs/runs.ts";
import { selectRun } from "../runs/runs-store.ts";
import { findCheck } from "./checks.ts";
import { updateRunOf } from "./checks-store.ts";
import { type RealStep, readRealSteps } from "./real-steps.ts";

export type CheckRunServices = Parameters<typeof createRun>[0] & {
  datasets: DatasetUploads & { uploads: PredictionsUploads };
};

interface WantedCheckRun extends Pick<NewRun, "evaluators" | "userId"> {
  checkId: string;
  /** Whether steps behind the first divergence are in it. */
  isWhole: boolean;
}

interface FoundRun {
  run: Run;
  isNew: boolean;
}

const lookAgainMs = 200;
const renewEveryMs = 1_000;

/** The run whose predictions are what the simulation said, and whose dataset is what really happened. One is made for all who ask. */
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
  // What a process left that died before it had its predictions.
  if (run !== undefined) await deleteRun(services, requester, run.id);
  await toRunEvaluators(services, accountId, wanted.evaluators);
  return { run: await makeRun(services, requester, check, wanted), isNew: true };
}

/** If anything fails, nothing of it stays. */
async function makeRun(
  services: CheckRunServices,
  requester: Changer,
  check: RealityChecksTable,
  { isWhole, ...wanted }: WantedCheckRun,
): Promise<Run> {
  const { accountId, actor, signal } = requester;
  const { uploads, maxBytes, floor, quotaBytes, sweeper } = services.datasets;
  const name = `${[...check.name].slice(0, 120).join("")} (reality check ${check.id}${isWhole ? ", all steps" : ""})`;
  // That of a run that was deleted has the same steps.
  const known = await findNamedDataset(services, requester, name);
  const dataset = known ?? (await createDataset(services, requester, { name, userId: wanted.userId }));
  let run: Run | undefined;
  try {
    const lines = (toLine: (step: RealStep) => object) =>
      linesOfCompared(readRealSteps(services, requester, check, { untilDivergence: !isWhole }), toLine);
    const upload = { accountId, actor, isGzip: false, maxBytes, floor, quotaBytes };
    const { revision } = await uploads
      .uploadRevision(
        { ...ownLines, ...upload, datasetId: dataset.id, isAppended: false },
        lines(({ line }) => line),
        signal,
      )
      .catch(refuseSteps);
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
    const always = { ...requester, signal: new AbortController().signal };
    if (run !== undefined) await deleteRun(services, always, run.id).catch(() => {});
    const made = { id: dataset.id, withRuns: false };
    if (known === undefined) await deleteDataset(services, always, made).catch(() => {});
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
