import { setImmediate as nextTurn } from "node:timers/promises";
import type { StoredWorld, WorldScores } from "@presage/contract";
import { sql } from "kysely";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { hasSamplesOf, type Run, type RunTarget } from "../run.ts";
import { selectFinished, selectRun } from "../runs-store.ts";

/** Counts of a run's predictions through a world, by the deployment that answered. */
interface WorldCounts {
  deployment: string | null;
  predictions: number;
  leavesOut: number;
  nearDuplicates: number;
}

/** The data stored with a run's prediction through a world. */
interface StoredAnswer {
  /** Whether the sample's own trajectory was left out of the examples. */
  leavesOut: boolean;
  /** Whether an example is nearly the same as the sample. */
  nearDuplicate: boolean;
  world: StoredWorld;
}

/** JSON text that begins with the fields that are counted. */
export function toStoredText({ leavesOut, nearDuplicate, world }: StoredAnswer): string {
  return `${beginningOf(leavesOut, nearDuplicate)}${JSON.stringify(world)}}`;
}

function beginningOf(leavesOut: boolean | "%", nearDuplicate: boolean | "%"): string {
  return `{"leaves_out":${leavesOut},"near_duplicate":${nearDuplicate},"world":`;
}

function countBeginning(...beginning: Parameters<typeof beginningOf>) {
  return sql<number>`sum(case when payload.request like ${`${beginningOf(...beginning)}%`} then 1 else 0 end)`;
}

/** Counts a run's predictions of some samples, by the deployment that answered. */
export async function selectWorldCounts(
  reader: Database,
  runId: string,
  { after, upTo }: PositionRange,
): Promise<WorldCounts[]> {
  return await reader
    .selectFrom("predictions as prediction")
    .innerJoin("prediction_payloads as payload", "payload.prediction_id", "prediction.id")
    .select((of) => [
      "prediction.deployment",
      of.fn.countAll<number>().as("predictions"),
      countBeginning(true, "%").as("leavesOut"),
      countBeginning("%", true).as("nearDuplicates"),
    ])
    .where("prediction.run_id", "=", runId)
    .where("prediction.status", "=", "success")
    .where("prediction.position", ">", after)
    .where("prediction.position", "<=", upTo)
    .groupBy("prediction.deployment")
    .execute();
}

/** The stored worlds of a run's predictions of some samples. */
export async function selectStoredWorlds(reader: Database, runId: string, range: PositionRange) {
  const rows = await predictionsIn(reader, runId, range)
    .innerJoin("prediction_payloads as payload", "payload.prediction_id", "predictions.id")
    .select("payload.request")
    .where("status", "=", "success")
    .execute();
  return rows.map(({ position, repeat, request }) => {
    // Written by the runner.
    const { world } = JSON.parse(request ?? "{}") as { world?: StoredWorld };
    return { position, repeat, world };
  });
}

/** How sure predictions were, by each method of the world. Escalated ones are left out: their numbers belong to another answer. */
export async function selectWorldScores(
  ...of: Parameters<typeof selectStoredWorlds>
): Promise<{ position: number; repeat: number; scores: WorldScores }[]> {
  const stored = await selectStoredWorlds(...of);
  return stored.flatMap(({ world, ...at }) =>
    world?.escalated ? [] : [{ ...at, scores: world?.scores ?? {} }],
  );
}

const runsAtOnce = 100;

/** The newest finished run of the same revision and mode answered by the records alone, among the latest 100 not of a bare deployment. */
export async function findRecordsRun(
  reader: Database,
  { id, account_id: accountId, dataset, mode, provenance }: Run,
): Promise<Run | undefined> {
  if (dataset === undefined) return undefined;
  const rows = await selectFinished(reader, accountId)
    .select(["id", "target", "provenance"])
    .where("dataset_id", "=", dataset.datasetId)
    .where("revision_id", "=", dataset.revisionId)
    .where("mode", "=", mode)
    .where("target_kind", "in", ["baseline", "world"])
    .where("id", "!=", id)
    .limit(runsAtOnce)
    .execute();
  const found = rows.find(
    (row) =>
      isOfRecords(JSON.parse(row.target) as RunTarget) &&
      hasSamplesOf(JSON.parse(row.provenance) as Run["provenance"], provenance),
  );
  return found && (await selectRun(reader, accountId, found.id));
}

function isOfRecords(target: RunTarget): boolean {
  return target.kind === "retrieval" || (target.kind === "world" && !target.asksModel);
}

/** The id of the newest finished run through a world's revision, among the latest 100: one that is not leaky, and no pilot, if possible. */
export async function findWorldRun(
  reader: Database,
  accountId: string,
  { name, revision }: { name: string; revision: number },
) {
  const rows = await selectFinished(reader, accountId)
    .select(["id", "provenance"])
    .where("target_kind", "=", "world")
    .where("target", "like", `{"kind":"world","name":"${name}","revision":${revision},%`)
    .limit(runsAtOnce)
    .execute();
  const runs = rows.map(({ id, provenance }) => ({ id, ...(JSON.parse(provenance) as Run["provenance"]) }));
  const sound = runs.filter(({ leaky }) => !leaky);
  return (sound.find(({ draw }) => !draw) ?? sound[0] ?? runs[0])?.id;
}

// Rows are in a fixed order, because sums of fractions differ in the last digit depending on the order of addition.

/** The samples after one position up to and including another. */
interface PositionRange {
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

/** Samples of a revision; those that no run has reached have no traits. */
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

/** Digests of a revision's samples, as far as a run has reached them. */
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

/** A run's predictions of some samples, by place. */
function predictionsIn(reader: Database, runId: string, { after, upTo }: PositionRange) {
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

/** The failed predictions of some samples. */
export async function selectFailedPredictions(reader: Database, runId: string, range: PositionRange) {
  return await predictionsIn(reader, runId, range).where("status", "=", "failed").execute();
}

/** Rows of one statement. They are parsed on the main thread, so they must be few. */
const rowsAtOnce = 5_000;

/** Reads the rows of the samples up to the last one, range by range, and lets other work have a turn after each. */
export async function* readInRanges<Row>(
  last: number,
  rowsOfSample: number,
  read: (range: PositionRange) => Promise<Row[]>,
): AsyncGenerator<Row[], void> {
  const samples = Math.ceil(rowsAtOnce / rowsOfSample);
  for (let after = 0; after < last; after += samples) {
    yield await read({ after, upTo: Math.min(last, after + samples) });
    // An in-memory database reads without waiting.
    await nextTurn();
  }
}

/** A run's predictions of some samples, with their answers; null if they failed. */
export async function selectAnswers(reader: Database, runId: string, range: PositionRange) {
  return await predictionsIn(reader, runId, range)
    .leftJoin("prediction_payloads as payload", (join) =>
      join.onRef("payload.prediction_id", "=", "predictions.id").on("predictions.status", "=", "success"),
    )
    .select("payload.output")
    .execute();
}

/** The recorded bodies of some samples and, for samples with messages, the last message, as JSON. */
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
