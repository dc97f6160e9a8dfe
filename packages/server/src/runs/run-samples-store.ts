import type { RunSampleOrder } from "@presage/contract";
import { type RawBuilder, type SqlBool, sql } from "kysely";
import { beginningsOfSample, hasMessages, readBeginning } from "../platform/storage/beginnings.ts";
import type { PredictionsTable } from "../platform/storage/schema/runs.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { Run, RunDataset } from "./run.ts";

/** The place of a sample and a repeat in a run. */
export interface RunPosition {
  position: number;
  repeat: number;
}

/** A place in an order: after it come higher values, or lower ones, and for equal values later places. */
export interface OrderedPosition extends RunPosition {
  /** Absent if the order is by place. */
  value: number | undefined;
}

export interface RunSampleSort {
  order: RunSampleOrder;
  /** The index of the evaluator whose scores are sorted by. */
  evaluator: number | undefined;
}

export interface RunSamplePage extends RunSampleSort {
  limit: number;
  /** From the start if absent. */
  after: OrderedPosition | undefined;
}

export const datasetOrder: RunSampleSort = { order: "position", evaluator: undefined };

export interface RunSampleFilter {
  /** The evaluator's index in the run's list. */
  evaluator?: number | undefined;
  /** The evaluator's verdict. */
  pass?: boolean | undefined;
  /** Whether there is a prediction. */
  status?: PredictionsTable["status"] | undefined;
  trajectoryId?: string | undefined;
  /** One id, or several. */
  sampleId?: string | readonly string[] | undefined;
  step?: number | undefined;
  /** Whether the state changed in the recording. */
  isChanged?: boolean | undefined;
}

/** A prediction of a run without its texts. `ordered_by` is the value that the page is sorted by; null if sorted by place. */
export type RunSampleRow = Awaited<ReturnType<typeof selectRunSamples>>[number];

type OfRun = Pick<Run, "id"> & { dataset: RunDataset };

/** The values that predictions are sorted by. A missing value counts as the lowest. */
const figures: Record<string, RawBuilder<number>> = {
  step: sql`sample.step`,
  score: sql`coalesce(ordering.score, -1)`,
  changes: sql`coalesce(traits.changes, -1)`,
  completion_tokens: sql`predictions.completion_tokens`,
  latency: sql`coalesce(predictions.latency_micros, -1)`,
};

function isBehind(
  { position, repeat, value }: OrderedPosition,
  figure: RawBuilder<number> | undefined,
  isDescending: boolean,
): RawBuilder<SqlBool> {
  const isLater = sql<SqlBool>`(predictions.position, predictions.repeat) > (${position}, ${repeat})`;
  if (figure === undefined || value === undefined) return isLater;
  // PostgreSQL would refuse to compare a fraction with a whole number.
  const last = sql`cast(${value} as double precision)`;
  const isFurther = isDescending ? sql`${figure} < ${last}` : sql`${figure} > ${last}`;
  return sql<SqlBool>`(${isFurther} or (${figure} = ${last} and ${isLater}))`;
}

/** The predictions of a run with their samples and with the verdicts that they are sorted by. */
function joinSamples(reader: Database, { id, dataset }: OfRun, ordering: number | undefined) {
  return reader
    .selectFrom("predictions")
    .innerJoin("dataset_samples as sample", (join) =>
      join
        .on("sample.revision_id", "=", dataset.revisionId)
        .onRef("sample.position", "=", "predictions.position"),
    )
    .leftJoin("sample_traits as traits", (join) =>
      join
        .on("traits.revision_id", "=", dataset.revisionId)
        .onRef("traits.position", "=", "predictions.position"),
    )
    .$if(ordering !== undefined, (all) =>
      all.leftJoin("run_verdicts as ordering", (join) =>
        join
          .on("ordering.run_id", "=", id)
          .on("ordering.evaluator", "=", ordering ?? 0)
          .onRef("ordering.position", "=", "predictions.position")
          .onRef("ordering.repeat", "=", "predictions.repeat"),
      ),
    )
    .where("predictions.run_id", "=", id);
}

function whereMatching(
  joined: ReturnType<typeof joinSamples>,
  { id, dataset }: OfRun,
  { evaluator, pass, status, trajectoryId, sampleId, step, isChanged }: RunSampleFilter,
) {
  let query = joined;
  if (status !== undefined) query = query.where("predictions.status", "=", status);
  for (const [column, id] of [
    ["trajectory_id", trajectoryId],
    ["sample_id", sampleId],
  ] as const) {
    if (id === undefined) continue;
    // With a condition on the sample alone, SQLite would read all predictions of the run.
    query = query.where("predictions.position", "in", (of) =>
      of
        .selectFrom("dataset_samples")
        .select("position")
        .where("revision_id", "=", dataset.revisionId)
        .where(column, "in", [id].flat()),
    );
  }
  if (step !== undefined) query = query.where("sample.step", "=", step);
  if (isChanged !== undefined) query = query.where("traits.changes", isChanged ? ">" : "=", 0);
  if (evaluator === undefined) return query;
  return query.where((of) =>
    of.exists(
      of
        .selectFrom("run_verdicts as verdict")
        .select("verdict.position")
        .where("verdict.run_id", "=", id)
        .where("verdict.evaluator", "=", evaluator)
        .whereRef("verdict.position", "=", "predictions.position")
        .whereRef("verdict.repeat", "=", "predictions.repeat")
        .$if(pass !== undefined, (verdict) => verdict.where("verdict.pass", "=", pass ? 1 : 0)),
    ),
  );
}

/** The predictions of a run after a place, in an order. All orders but that of the dataset read and sort the whole run. */
export async function selectRunSamples(
  reader: Database,
  run: OfRun,
  filter: RunSampleFilter,
  { limit, after, order, evaluator: ordering }: RunSamplePage,
) {
  const isDescending = order.startsWith("-");
  const figure = figures[isDescending ? order.slice(1) : order];
  let query = whereMatching(joinSamples(reader, run, ordering), run, filter).select([
    "predictions.id as prediction_id",
    "predictions.status",
    "error_category",
    "finish_reason",
    "prompt_tokens",
    "completion_tokens",
    "latency_micros",
    "predictions.confidence",
    "predictions.repeat",
    "sample.position",
    "sample.sample_id",
    "sample.trajectory_id",
    "sample.step",
    "traits.changes",
    "traits.verb",
    sql<number | null>`${figure ?? sql`null`}`.as("ordered_by"),
  ]);
  if (after !== undefined) query = query.where(isBehind(after, figure, isDescending));
  if (figure !== undefined) query = query.orderBy(figure, isDescending ? "desc" : "asc");
  const rows = await query
    .orderBy("predictions.position")
    .orderBy("predictions.repeat")
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    ...row,
    repeat: Number(row.repeat),
  }));
}

/** Where trajectories were recorded alternately, the way from the first step of one to that of the next is long. */
const mostOnTheWay = 20_000;

/** The trajectory whose first step is the next before or after that of another among a run's predictions. */
export async function selectNeighbour(
  reader: Database,
  { id, dataset: { revisionId } }: OfRun,
  trajectoryId: string,
  isBefore: boolean,
): Promise<string | null> {
  const [comparison, direction] = isBefore ? [sql`<`, sql`desc`] : [sql`>`, sql`asc`];
  // The inner query is ordered and read only as far as needed; ordering the outer one would read it to the end.
  const { rows } = await sql<{ trajectory_id: string }>`
    select trajectory_id from (
      select sample.trajectory_id, sample.step from predictions
      join dataset_samples sample
        on sample.revision_id = ${revisionId} and sample.position = predictions.position
      where predictions.run_id = ${id} and predictions.repeat = 0
        and predictions.position ${comparison} (
          select position from dataset_samples
          where revision_id = ${revisionId} and trajectory_id = ${trajectoryId} order by step limit 1)
      order by predictions.position ${direction} limit ${mostOnTheWay}) as step
    where not exists (
      select 1 from dataset_samples earlier
      where earlier.revision_id = ${revisionId} and earlier.trajectory_id = step.trajectory_id
        and earlier.step < step.step)
    limit 1`.execute(reader);
  return rows[0]?.trajectory_id ?? null;
}

/** The verdicts on some samples of a run. */
export async function selectRunVerdicts(
  reader: Database,
  { id, evaluators }: Pick<Run, "id" | "evaluators">,
  positions: readonly number[],
) {
  if (positions.length === 0) return [];
  return await reader
    .selectFrom("run_verdicts")
    .select(["evaluator", "position", "repeat", "status", "pass", "score", "result_id"])
    .where("run_id", "=", id)
    .where("evaluator", "in", [...evaluators.keys()])
    .where("position", "in", positions)
    .orderBy("evaluator")
    .execute();
}

/** The beginnings of predictions, by id. Read separately from the list: SQLite would read those of all rows that it sorts. */
export async function selectExcerpts(
  reader: Database,
  ids: readonly string[],
  characters: number,
): Promise<Map<string, string | null>> {
  if (ids.length === 0) return new Map();
  const rows = await reader
    .selectFrom("prediction_payloads")
    .select(["prediction_id", sql<string | null>`substr(output, 1, ${characters})`.as("excerpt")])
    .where("prediction_id", "in", ids)
    .execute();
  return new Map(rows.map(({ prediction_id, excerpt }) => [prediction_id, excerpt]));
}

/** The beginnings of the action and of the recorded next state of a revision's samples. */
export async function selectSampleBeginnings(
  reader: Database,
  revisionId: number,
  wanted: { position: readonly number[] } | { sample_id: readonly string[] },
  characters: number,
) {
  const [[column = "", values] = []] = Object.entries(wanted);
  if (values === undefined || values.length === 0) return [];
  const rows = await reader
    .selectFrom("dataset_samples as sample")
    .innerJoin("dataset_payloads as payload", (join) =>
      join
        .onRef("payload.revision_id", "=", "sample.revision_id")
        .onRef("payload.position", "=", "sample.position"),
    )
    .leftJoin("dataset_parts as message", (join) =>
      join
        .onRef("message.revision_id", "=", "payload.revision_id")
        .onRef("message.digest", "=", "payload.part")
        .on(hasMessages),
    )
    .select(["sample.position", "sample.sample_id", "sample.trajectory_id", "sample.step"])
    .select(beginningsOfSample(reader, characters))
    .where("sample.revision_id", "=", revisionId)
    .where(sql.ref(`sample.${column}`), "in", values)
    .execute();
  return rows.map((row) => ({
    ...row,
    action: readBeginning(row.action, characters),
    expected: readBeginning(row.expected, characters),
  }));
}

/** The texts of predictions, by id. */
export async function selectRunTexts(
  reader: Database,
  ids: readonly string[],
): Promise<Map<string, { output: string | null; reasoning: string | null; error_message: string | null }>> {
  if (ids.length === 0) return new Map();
  const rows = await reader
    .selectFrom("prediction_payloads")
    .select(["prediction_id", "output", "reasoning", "error_message"])
    .where("prediction_id", "in", ids)
    .execute();
  return new Map(rows.map(({ prediction_id, ...texts }) => [prediction_id, texts]));
}

/** The explanations of results that have one, by id. */
export async function selectExplanations(
  reader: Database,
  resultIds: readonly string[],
): Promise<Map<string, string>> {
  if (resultIds.length === 0) return new Map();
  const rows = await reader
    .selectFrom("evaluation_payloads")
    .select(["result_id", "explanation"])
    .where("result_id", "in", resultIds.map(Number))
    .execute();
  return new Map(
    rows.flatMap(({ result_id, explanation }) => (explanation ? [[`${result_id}`, explanation]] : [])),
  );
}
