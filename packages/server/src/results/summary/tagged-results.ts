import { type RawBuilder, sql } from "kysely";
import { isPostgres } from "../../platform/storage/is-postgres.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";

type Fragment = RawBuilder<unknown>;

/** What a series of a tag has in common, and how it is read from a result. */
export const seriesSources = {
  app: sql`result.app`,
  evaluator_id: sql`result.evaluator_id`,
  evaluator_family: sql`coalesce(result.evaluator_family, '')`,
  profile_name: sql`coalesce(result.profile_name, '')`,
  profile_public_id: sql`coalesce(result.profile_public_id, '')`,
  profile_revision: sql`coalesce(result.profile_revision, 0)`,
} as const;

/**
 * The tags of `result`, one a row, as a join: `tagged.key` and `tagged.value`. From the payload, since the tags' own table is not in
 * the order of results.
 */
export function joinTags(database: Database): Fragment {
  const tags = isPostgres(database)
    ? sql`lateral json_each_text(payload.tags::json)`
    : sql`json_each(payload.tags)`;
  // SQLite joins them in this order only.
  return sql`cross join evaluation_payloads as payload cross join ${tags} as tagged`;
}

/** Belongs to `joinTags`. */
export const isPayloadOfResult = sql`payload.result_id = result.id`;

/** How a result was counted by tag: with its evaluator's verdict, which never changes. */
export function evaluatorsVerdict(database: Database) {
  const mille = sql`result.score * 1000`;
  const whole = isPostgres(database) ? sql`floor(${mille})` : sql`cast(${mille} as integer)`;
  return {
    verdict: verdictOf(sql`result.pass`),
    // As `toThousandths` rounds it; PostgreSQL's own rounding goes to even numbers.
    score_mille: sql`cast(coalesce(${whole} + case when ${mille} - ${whole} >= 0.5 then 1 else 0 end, -1) as integer)`,
    score: sql`coalesce(result.score, 0)`,
  };
}

/** How a result counts now: with the latest correction's verdict. */
export const countedVerdict = {
  verdict: verdictOf(sql`result.counted_pass`),
  score_mille: sql`coalesce(result.score_mille, -1)`,
  score: sql`coalesce(result.counted_score, 0)`,
};

function verdictOf(pass: Fragment): Fragment {
  return sql`case when result.status <> 'success' then result.status
    when ${pass} is null then 'none' when ${pass} = 1 then 'pass' else 'fail' end`;
}

/** PostgreSQL rejects a product too small for a double; such a square adds nothing. */
export function squareOf(score: Fragment): Fragment {
  return sql`case when ${score} > 1e-150 then ${score} * ${score} else 0 end`;
}
