import { type RawBuilder, sql } from "kysely";
import { toFlag } from "../../platform/storage/flag.ts";
import { type ExplanationGroup, explanationGroups } from "./access-paths.ts";
import type { ResultFilter } from "./result-filter.ts";

type Condition = RawBuilder<unknown>;

/** The parts of a filter that no index serves alone. */
export function otherConditions({
  isExternal,
  isExplained,
  hasRun,
  profileRevision,
}: ResultFilter): Condition[] {
  return [
    ...(isExternal === undefined ? [] : [sql`result.is_external = 1`]),
    ...(profileRevision === undefined ? [] : [sql`result.profile_revision = ${profileRevision}`]),
    ...(isExplained === undefined ? [] : [hasExplanation(isExplained)]),
    ...(hasRun === undefined ? [] : [hasRun ? sql`result.run_id is not null` : sql`result.run_id is null`]),
  ];
}

/** An evaluation without a verdict has none. */
function hasExplanation(isExplained: boolean): Condition {
  const explained = sql`(result.status = 'success' and (${sql.join(
    explanationGroups(true).map(isInExplanationGroup),
    sql` or `,
  )}))`;
  return isExplained ? explained : sql`not ${explained}`;
}

export function isInExplanationGroup({ strategy, pass }: ExplanationGroup): Condition {
  const isOfStrategy = sql`result.explain_strategy = ${sql.lit(strategy)}`;
  return pass === undefined
    ? isOfStrategy
    : sql`(${isOfStrategy} and result.pass = ${sql.lit(toFlag(pass))})`;
}
