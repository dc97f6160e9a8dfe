import type { RunSampleOrder } from "@presage/contract";
import { type RawBuilder, type SqlBool, sql } from "kysely";
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

/** One evaluator of a run, by its index in the run's list. */
export interface ComparedVerdicts {
  runId: string;
  revisionId: number;
  evaluator: number;
}

export interface ComparedSampleRow {
  /** How different the scores are, in units of 1e-12: whole numbers, so that a page starts exactly where the last one ended. */
  distance: number;
  sample_id: string;
  trajectory_id: string;
  step: number;
  reference_position: number;
  reference_score: number | null;
  reference_pass_rate: number;
  reference_result_id: number | null;
  candidate_position: number;
  candidate_score: number | null;
  candidate_pass_rate: number;
  candidate_result_id: number | null;
}

/** The position in the list after which a page starts. */
export interface ComparedSampleCursor {
  distance: number;
  position: number;
}

/**
 * Samples whose mean score, or pass rate without scores, is lower or higher in the candidate, the most different first. All verdicts
 * are read for each page, because no index has differences.
 */
export async function selectComparedSamples(
  reader: Database,
  { reference, candidate }: { reference: ComparedVerdicts; candidate: ComparedVerdicts },
  direction: "worse" | "better",
  { limit, after }: { limit: number; after: ComparedSampleCursor | undefined },
): Promise<ComparedSampleRow[]> {
  const [lower, higher] = direction === "worse" ? ["candidate", "reference"] : ["reference", "candidate"];
  const of = (side: string, column: string) => sql.ref(`${side}.${column}`);
  // For verdicts without a score, pass rates are compared.
  const change = sql`coalesce(${of(higher, "score")} - ${of(lower, "score")}, ${of(higher, "pass_rate")} - ${of(lower, "pass_rate")})`;
  const afterCursor =
    after === undefined
      ? sql``
      : sql`and (distance < ${after.distance}
          or (distance = ${after.distance} and reference_position > ${after.position}))`;
  const { rows } = await sql<ComparedSampleRow>`
    with reference as (${meansOf(reference)}), candidate as (${meansOf(candidate)}), paired as (
      select cast(round((${change}) * 1000000000000) as bigint) as distance,
        reference.position as reference_position, reference.score as reference_score,
        reference.pass_rate as reference_pass_rate, reference.result_id as reference_result_id,
        candidate.position as candidate_position, candidate.score as candidate_score,
        candidate.pass_rate as candidate_pass_rate, candidate.result_id as candidate_result_id
      from ${pairsOf(reference, candidate)}
    )
    select paired.*, sample_id, trajectory_id, step from paired
    join dataset_samples sample
      on sample.revision_id = ${reference.revisionId} and sample.position = reference_position
    where distance > 0 ${afterCursor}
    order by distance desc, reference_position limit ${limit}`.execute(reader);
  return rows;
}

function meansOf({ runId, evaluator }: ComparedVerdicts): RawBuilder<unknown> {
  return sql`select position, avg(score) as score, avg(pass * 1.0) as pass_rate, min(result_id) as result_id
    from run_verdicts
    where run_id = ${runId} and evaluator = ${evaluator} and status = 'success' and pass is not null
    group by position`;
}

/** Samples of one revision are matched by position, samples of two revisions by their digests. */
function pairsOf(reference: ComparedVerdicts, candidate: ComparedVerdicts): RawBuilder<unknown> {
  if (reference.revisionId === candidate.revisionId) {
    return sql`reference join candidate on candidate.position = reference.position`;
  }
  return sql`reference
    join sample_traits own on own.revision_id = ${reference.revisionId} and own.position = reference.position
    join sample_traits other on other.revision_id = ${candidate.revisionId} and other.digest = own.digest
    join candidate on candidate.position = other.position`;
}

/** The texts of a result, each cut to a number of characters. */
export interface ResultTexts {
  input: string | null;
  output: string | null;
  gold_answer: string | null;
}

/** The texts of results that still exist, by id. */
export async function selectResultTexts(
  reader: Database,
  resultIds: readonly string[],
  characters: number,
): Promise<Map<string, ResultTexts>> {
  if (resultIds.length === 0) return new Map();
  const cut = (column: keyof ResultTexts) =>
    sql<string | null>`substr(${sql.ref(column)}, 1, ${characters})`.as(column);
  const rows = await reader
    .selectFrom("evaluation_payloads")
    .select(["result_id", cut("input"), cut("output"), cut("gold_answer")])
    .where("result_id", "in", resultIds.map(Number))
    .execute();
  return new Map(rows.map(({ result_id, ...texts }) => [`${result_id}`, texts]));
}
