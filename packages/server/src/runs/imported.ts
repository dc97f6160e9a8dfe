import { setTimeout as sleep } from "node:timers/promises";
import { RunPredictionLine } from "@presage/contract";
import { answerOfLine, countRepeatedIndexes, predictionFields } from "../datasets/formats.ts";
import {
  checkLine,
  createLineReader,
  LineError,
  type UploadLimits,
  uploadedLines,
} from "../datasets/upload/lines.ts";
import { type Changer, recordChange } from "../platform/audit.ts";
import { conflict, notFound, type ServiceError, UploadError } from "../platform/errors.ts";
import { createWritePace, pauseMs } from "../platform/storage/batches.ts";
import { databaseNow, readDatabaseClock } from "../platform/storage/clock.ts";
import { type Micros, microsPerMs } from "../platform/storage/columns.ts";
import { latestEnd } from "../platform/storage/leases.ts";
import { insertRows } from "../platform/storage/rows.ts";
import type { DatasetSamplesTable } from "../platform/storage/schema/runs.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { type Lease, noCounts, predictionIndex, type Run, uploadLeaseMs, type WorkCounts } from "./run.ts";
import { nothingSaid, type PredictionRows, toRows } from "./runner/predict-step.ts";
import { renewLease } from "./runner/work-store.ts";
import { deleteSomeRunRows, selectRun } from "./runs-store.ts";

/** The ways in which a line names its sample, which must agree. The index is the sample's id, or its number from 0. */
type SampleNames = ReturnType<typeof readNames>;

/** A prediction that was made elsewhere. */
interface PredictionLine {
  sample: SampleNames;
  repeat: number;
  answer: ReturnType<typeof answerOfLine>;
  reasoning: string | null;
  confidence: number | null;
}

const answerFields = ["prediction", ...predictionFields] as const;

/** Reads a line of an upload: from our own export, or from a file that evaluation scripts write. */
function readPredictionLine(value: unknown): PredictionLine {
  const line = checkLine(RunPredictionLine, value);
  if (!answerFields.some((name) => name in line) && line.skipped_overlong !== true)
    throw new LineError("Field required", ["prediction"]);
  return {
    sample: readNames(line),
    repeat: line.repeat ?? 0,
    answer: answerOfLine(line, answerFields),
    reasoning: line.reasoning ?? null,
    confidence: line.confidence ?? null,
  };
}

function readNames(line: RunPredictionLine) {
  const names = {
    id: line.dataset_sample_id ?? undefined,
    trajectoryId: line.trajectory_id ?? undefined,
    step: line.step ?? undefined,
    index: line.index ?? undefined,
  };
  const { id, trajectoryId, step, index } = names;
  if ((id ?? index) !== undefined || (trajectoryId !== undefined && step !== undefined)) return names;
  throw new LineError("Field required; or give trajectory_id and step, or index", ["dataset_sample_id"]);
}

export interface PredictionsUpload extends Pick<Changer, "accountId" | "actor">, UploadLimits {
  runId: string;
  isGzip: boolean;
}

export interface UploadedPredictions {
  predictions: number;
  warnings: string[] | undefined;
}

/** Stores the predictions of runs. */
export interface PredictionsUploads {
  uploadPredictions(
    upload: PredictionsUpload,
    body: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<UploadedPredictions>;
}

const maxBatchBytes = 1_000_000;
const deletedAtOnce = 500;

interface Batch {
  lines: { number: number; line: PredictionLine }[];
  bytes: number;
}

/**
 * Stores the predictions of a run; work on the run starts once they are complete. If anything fails, none is kept, and they can be
 * uploaded again.
 */
export async function uploadPredictions(
  database: Database,
  { accountId, actor, runId, isGzip, maxBytes, floor }: PredictionsUpload,
  body: AsyncIterable<Uint8Array>,
): Promise<UploadedPredictions> {
  const run = await selectRun(database, accountId, runId);
  if (run === undefined) throw notFound("run");
  const lease = { id: runId, leaseId: Bun.randomUUIDv7() };
  const now = await readDatabaseClock(database);
  if (!(await claimForUpload(database, accountId, lease, now))) throw refused(run);
  try {
    // Rows left behind by a process that died halfway.
    await deleteAll(database, lease);
    let predictions = 0;
    const readLine = createLineReader(readPredictionLine);
    const indexes = countRepeatedIndexes();
    const write = createBatchWriter(database, run, lease);
    let batch: Batch = { lines: [], bytes: 0 };
    const pace = createWritePace(database);
    for await (const lines of uploadedLines(database, body, { isGzip, maxBytes, floor })) {
      for (const raw of lines) {
        const line = readLine(raw);
        if (line === undefined || isPassedOver(line, indexes)) continue;
        batch.lines.push({ number: raw.number, line });
        batch.bytes += raw.bytes.length;
        predictions += 1;
        if (batch.lines.length * 2 < pace.maxRows() && batch.bytes < maxBatchBytes) continue;
        const full = batch;
        batch = { lines: [], bytes: 0 };
        await pace.write(full.lines.length * 2, () => write(full));
      }
    }
    await write(batch);
    if (predictions === 0)
      throw new UploadError({ line: undefined, path: [], reason: "The body has no predictions" });
    await database.transaction().execute(async (transaction) => {
      if (!(await completeUpload(transaction, lease))) throw interrupted();
      await recordChange(transaction, { accountId, actor }, "run.add_predictions", runId, { predictions });
    });
    return { predictions, warnings: indexes.warnings() };
  } catch (error) {
    await deleteAll(database, lease).catch(() => {});
    await abandonUpload(database, lease).catch(() => {});
    throw error;
  }
}

/** Deletes the run's rows while this upload has the lease. Another upload may have begun after a client was silent for too long. */
async function deleteAll(database: Database, lease: Lease): Promise<void> {
  const deleteSome = async () =>
    await database.transaction().execute(async (transaction) => {
      const until = await nextEnd(transaction);
      const isHeld = await renewLease(transaction, { ...lease, until });
      return isHeld && (await deleteSomeRunRows(transaction, lease.id, deletedAtOnce));
    });
  while (await deleteSome()) await sleep(pauseMs);
}

/** The end of a lease that is renewed now. */
async function nextEnd(database: Database): Promise<Micros> {
  return (await readDatabaseClock(database)) + uploadLeaseMs * microsPerMs;
}

function createBatchWriter(database: Database, run: Run, lease: Lease): (batch: Batch) => Promise<void> {
  const { dataset } = run;
  if (dataset === undefined) throw new Error("The imported run has no dataset");
  // One byte per prediction, because there may be millions.
  const isSeen = new Uint8Array(run.counts.samples);

  return async (batch) => {
    if (batch.lines.length === 0) return;
    const positionOf = await findPositions(database, dataset.revisionId, batch);
    const until = await nextEnd(database);
    const rows = batch.lines.map(({ number, line }): PredictionRows => {
      const position = positionOf(line.sample, number);
      const { repeat } = line;
      if (repeat >= run.repeats) {
        const reason = `The run has ${run.repeats} ${run.repeats === 1 ? "repeat" : "repeats"}, which count from 0`;
        throw new UploadError({ line: number, path: ["repeat"], reason });
      }
      const index = predictionIndex({ position, repeat }, run.repeats);
      if (isSeen[index] === 1) {
        const reason = "An earlier line has a prediction of this sample";
        throw new UploadError({ line: number, path: [], reason });
      }
      isSeen[index] = 1;
      return toRows(run, { position, repeat }, outcomeOf(line));
    });
    const predicted = rows.filter(({ row }) => row.status === "success").length;
    const empty = rows.filter(({ payload }) => payload.output?.trim() === "").length;
    await database.transaction().execute(async (transaction) => {
      const failed = rows.length - predicted;
      if (!(await addUploaded(transaction, lease, until, { predicted, failed, empty }))) throw interrupted();
      const narrow = rows.map(({ row }) => row);
      const payloads = rows.map(({ payload }) => payload);
      await insertRows(transaction, "predictions", narrow);
      await insertRows(transaction, "prediction_payloads", payloads);
    });
  };
}

/** Whether a line has the index of an earlier line, which is the one that counts. */
function isPassedOver(
  { sample: { id, step, trajectoryId, index }, repeat }: PredictionLine,
  indexes: ReturnType<typeof countRepeatedIndexes>,
): boolean {
  if (index === undefined || (id ?? step ?? trajectoryId) !== undefined) return false;
  return indexes.isRepeated(repeat === 0 ? index : JSON.stringify([String(index), repeat]));
}

function outcomeOf({ answer, reasoning, confidence }: PredictionLine): Parameters<typeof toRows>[2] {
  if ("prediction" in answer)
    return { response: { ...nothingSaid, output: answer.prediction, reasoning, confidence } };
  const message =
    answer.failure === "skipped"
      ? "The line says that its prompt was too long."
      : "The line has no prediction, or an error in its place.";
  return { failure: { category: answer.failure, message } };
}

/** Returns a function that finds the position of a line's sample. It throws an `UploadError` if the line names none or several. */
async function findPositions(
  database: Database,
  revisionId: number,
  { lines }: Batch,
): Promise<(names: SampleNames, line: number) => number> {
  const names = lines.map(({ line }) => line.sample);
  const found = await selectNamedPositions(database, revisionId, {
    ids: names.flatMap(({ id, index }) => [id, index?.toString()].filter((one) => one !== undefined)),
    steps: names.flatMap(({ trajectoryId, step }) =>
      trajectoryId === undefined || step === undefined ? [] : { trajectoryId, step },
    ),
    // Lines of files are counted from 0, positions from 1.
    positions: names.flatMap(({ index }) => (typeof index === "number" ? index + 1 : [])),
  });
  const byId = new Map(found.map((one) => [one.sample_id, one]));
  const byStep = new Map(found.map((one) => [JSON.stringify([one.trajectory_id, one.step]), one]));
  const byPosition = new Map(found.map((one) => [one.position, one]));
  return ({ id, trajectoryId, step, index }, line) => {
    // The revision may have been made from the same file, whose index is then the sample's id.
    const ofIndex =
      byId.get(String(index)) ?? (typeof index === "number" ? byPosition.get(index + 1) : undefined);
    const ofStep = byStep.get(JSON.stringify([trajectoryId, step]));
    const sample = id === undefined ? (ofStep ?? ofIndex) : byId.get(id);
    if (sample === undefined) {
      const reason = "The run's revision has no such sample";
      throw new UploadError({ line, path: ["dataset_sample_id"], reason });
    }
    const isFitting =
      (index === undefined || ofIndex?.position === sample.position) &&
      (trajectoryId ?? sample.trajectory_id) === sample.trajectory_id &&
      (step ?? sample.step) === sample.step;
    if (isFitting) return sample.position;
    const reason = "The line's dataset_sample_id, trajectory_id, step and index are not of one sample";
    throw new UploadError({ line, path: [], reason });
  };
}

function refused({ target, status }: Run): ServiceError {
  if (target.kind !== "imported")
    return conflict("The run makes its predictions itself; none can be uploaded.");
  const why = status === "queued" ? "Another upload is in progress." : `The run is ${status}.`;
  return conflict(`${why} Predictions are uploaded once, before a run starts.`);
}

function interrupted(): ServiceError {
  return conflict("The run was cancelled or deleted, or the upload took too long.");
}

/** Takes an imported run for an upload. Returns false if the run has its predictions or another upload is in progress. */
async function claimForUpload(database: Database, accountId: string, { id, leaseId }: Lease, now: Micros) {
  const row = await database
    .updateTable("runs")
    .set({ lease_id: leaseId, lease_until: now + uploadLeaseMs * microsPerMs, ...noCounts })
    .where("id", "=", id)
    .where("account_id", "=", accountId)
    .where("target_kind", "=", "imported")
    .where("status", "=", "queued")
    .where((of) =>
      of.or([of("lease_until", "<", now), of("lease_until", ">", latestEnd(now, uploadLeaseMs))]),
    )
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

/** A run whose upload has this lease. */
function updateUploading(database: Database, { id, leaseId }: Lease) {
  return database
    .updateTable("runs")
    .where("id", "=", id)
    .where("lease_id", "=", leaseId)
    .where("status", "=", "queued")
    .returning("id");
}

/** Counts predictions of an upload and renews its lease. Returns false if the run was cancelled or the upload took too long. */
async function addUploaded(
  transaction: Database,
  lease: Lease,
  until: Micros,
  { predicted, failed, empty }: Pick<WorkCounts, "predicted" | "failed" | "empty">,
) {
  const row = await updateUploading(transaction, lease)
    .set((of) => ({
      predicted: of("predicted", "+", predicted),
      // Failed predictions will not be judged.
      evaluated: of("evaluated", "+", failed),
      failed: of("failed", "+", failed),
      unpredicted: of("unpredicted", "+", failed),
      empty: of("empty", "+", empty),
      lease_until: until,
    }))
    .executeTakeFirst();
  return row !== undefined;
}

/** Lets processes work on a run whose predictions are uploaded. Returns false if it was cancelled or paused. */
async function completeUpload(database: Database, lease: Lease) {
  const row = await updateUploading(database, lease)
    .set({ lease_id: null, lease_until: 0, status: "running", started_at: databaseNow(database) })
    .executeTakeFirst();
  return row !== undefined;
}

/** Allows the next upload to begin, even if the run was paused and resumed during this one. */
async function abandonUpload(database: Database, { id, leaseId }: Lease) {
  await database
    .updateTable("runs")
    .set((of) => ({
      lease_id: null,
      lease_until: 0,
      status: of
        .case()
        .when("status", "=", "running")
        .then("queued" as const)
        .else(of.ref("status"))
        .end(),
      ...noCounts,
    }))
    .where("id", "=", id)
    .where("lease_id", "=", leaseId)
    .execute();
}

/** How the lines of a batch name their samples. */
interface NamedSamples {
  ids: readonly string[];
  steps: readonly { trajectoryId: string; step: number }[];
  positions: readonly number[];
}

type NamedPosition = Pick<DatasetSamplesTable, "position" | "sample_id" | "trajectory_id" | "step">;

/** The samples of a revision with these ids or positions, or in these trajectories at these steps. */
async function selectNamedPositions(
  database: Database,
  revisionId: number,
  { ids, steps, positions }: NamedSamples,
): Promise<NamedPosition[]> {
  const found: NamedPosition[] = [];
  const all = database
    .selectFrom("dataset_samples")
    .select(["position", "sample_id", "trajectory_id", "step"])
    .where("revision_id", "=", revisionId);
  if (ids.length > 0) found.push(...(await all.where("sample_id", "in", ids).execute()));
  if (positions.length > 0) found.push(...(await all.where("position", "in", positions).execute()));
  const byTrajectory = Map.groupBy(steps, ({ trajectoryId }) => trajectoryId);
  for (const [trajectoryId, some] of byTrajectory) {
    const numbers = some.map(({ step }) => step);
    found.push(
      ...(await all.where("trajectory_id", "=", trajectoryId).where("step", "in", numbers).execute()),
    );
  }
  return found;
}
