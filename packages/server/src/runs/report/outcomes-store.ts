import { setImmediate as nextTurn } from "node:timers/promises";
import type { Database } from "../../platform/storage/schema/tables.ts";

// Rows come in a fixed order: sums of fractions differ in the last digit by the order in which they are added.

/** The samples after one position up to another, which is included. */
export interface PositionRange {
  after: number;
  upTo: number;
}

/** The position of a revision's last sample; 0 if it has none. */
export async function selectLastPosition(reader: Database, revisionId: number) {
  const { last } = await reader
    .selectFrom("dataset_samples")
    .select((of) => of.fn.max("position").as("last"))
    .where("revision_id", "=", revisionId)
    .executeTakeFirstOrThrow();
  return last ?? 0;
}

/** Samples of a revision; without traits, those that no run has reached. */
export async function selectTraits(reader: Database, revisionId: number, { after, upTo }: PositionRange) {
  return await reader
    .selectFrom("dataset_samples as sample")
    .leftJoin("sample_traits as trait", (join) =>
      join
        .onRef("trait.revision_id", "=", "sample.revision_id")
        .onRef("trait.position", "=", "sample.position"),
    )
    .select(["sample.position", "trajectory_id", "step", "changes", "verb", "tags"])
    .where("sample.revision_id", "=", revisionId)
    .where("sample.position", ">", after)
    .where("sample.position", "<=", upTo)
    .orderBy("sample.position")
    .execute();
}

/** The ids of a revision's samples. */
export async function selectSampleIds(reader: Database, revisionId: number, { after, upTo }: PositionRange) {
  return await reader
    .selectFrom("dataset_samples")
    .select(["position", "sample_id"])
    .where("revision_id", "=", revisionId)
    .where("position", ">", after)
    .where("position", "<=", upTo)
    .execute();
}

/** Digests of a revision's samples, of those that a run has reached. */
export async function selectDigests(reader: Database, revisionId: number, { after, upTo }: PositionRange) {
  return await reader
    .selectFrom("sample_traits")
    .select(["position", "digest"])
    .where("revision_id", "=", revisionId)
    .where("position", ">", after)
    .where("position", "<=", upTo)
    .execute();
}

/** One evaluator's outcomes on a run's samples. */
export async function selectVerdicts(
  reader: Database,
  runId: string,
  evaluator: number,
  { after, upTo }: PositionRange,
) {
  return await reader
    .selectFrom("run_verdicts")
    .select(["position", "repeat", "status", "pass", "score", "unchanged_pass", "unchanged_score"])
    .where("run_id", "=", runId)
    .where("evaluator", "=", evaluator)
    .where("position", ">", after)
    .where("position", "<=", upTo)
    .orderBy("position")
    .orderBy("repeat")
    .execute();
}

/** A run's predictions of some samples, by their places. */
export function predictionsIn(reader: Database, runId: string, { after, upTo }: PositionRange) {
  return (
    reader
      .selectFrom("predictions")
      // Both are set if the run is.
      .select((of) => [
        of.ref("position").$notNull().as("position"),
        of.ref("repeat").$notNull().as("repeat"),
      ])
      .where("run_id", "=", runId)
      .where("position", ">", after)
      .where("position", "<=", upTo)
  );
}

export type PredictionRow = Awaited<ReturnType<typeof selectPredictions>>[number];

export async function selectPredictions(reader: Database, runId: string, range: PositionRange) {
  return await predictionsIn(reader, runId, range)
    .select(["status", "error_category", "finish_reason", "sent_model", "latency_micros", "created_at"])
    .select(["prompt_tokens", "cached_tokens", "completion_tokens"])
    .orderBy("position")
    .orderBy("repeat")
    .execute();
}

/** The confidences of some samples' predictions. */
export async function selectConfidences(reader: Database, runId: string, range: PositionRange) {
  return await predictionsIn(reader, runId, range)
    .select(["score", "confidence"])
    .where("status", "=", "success")
    .execute();
}

/** Where the predictions of some samples failed. */
export async function selectFailedPredictions(reader: Database, runId: string, range: PositionRange) {
  return await predictionsIn(reader, runId, range).where("status", "=", "failed").execute();
}

/** Rows of one statement. They are parsed on the main thread, so they must be few. */
const rowsAtOnce = 5_000;

/** Reads what there is of the samples up to the last one, a range at a time, and lets others take a turn after each. */
export async function* readInRanges<Row>(
  last: number,
  rowsOfSample: number,
  read: (range: PositionRange) => Promise<Row[]>,
): AsyncGenerator<Row[], void> {
  const samples = Math.ceil(rowsAtOnce / rowsOfSample);
  for (let after = 0; after < last; after += samples) {
    yield await read({ after, upTo: Math.min(last, after + samples) });
    // A database in memory reads without waiting.
    await nextTurn();
  }
}

/** A run's predictions of some samples, with what was answered; null if they failed. */
export async function selectAnswers(reader: Database, runId: string, range: PositionRange) {
  return await predictionsIn(reader, runId, range)
    .leftJoin("prediction_payloads as payload", (join) =>
      join.onRef("payload.prediction_id", "=", "predictions.id").on("predictions.status", "=", "success"),
    )
    .select("payload.output")
    .execute();
}

/** What some samples recorded: their bodies and, of those with messages, the last one, as JSON. */
export async function selectRecorded(reader: Database, revisionId: number, { after, upTo }: PositionRange) {
  return await reader
    .selectFrom("dataset_payloads as payload")
    .leftJoin("dataset_parts as part", (join) =>
      join
        .onRef("part.revision_id", "=", "payload.revision_id")
        .onRef("part.digest", "=", "payload.part")
        .on("payload.body", "not like", '{"interaction":%'),
    )
    .select(["payload.position", "payload.body", "part.text as message"])
    .where("payload.revision_id", "=", revisionId)
    .where("payload.position", ">", after)
    .where("payload.position", "<=", upTo)
    .execute();
}
