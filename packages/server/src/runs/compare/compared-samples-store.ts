import { type RawBuilder, sql } from "kysely";
import type { Database } from "../../platform/storage/schema/tables.ts";

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
