import {
  type EvaluationSummaryGroup,
  EvaluationSummaryRequest,
  EvaluationSummaryResponse,
} from "@presage/contract";
import type { Expression } from "kysely";
import { toExternalName } from "../../evaluators/outcome.ts";
import { response } from "../../http/describe.ts";
import { toIsoDay } from "../../http/response.ts";
import { reply, route } from "../../http/route.ts";
import { InvalidRequestError, missing, valueError } from "../../http/validate.ts";
import {
  type ClusteredMoments,
  clusteredError,
  rateInterval,
  scoreInterval,
  wilsonInterval,
} from "../../platform/statistics/intervals.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { Requester, Store } from "../../platform/storage/store.ts";
import examples from "../examples.json" with { type: "json" };
import { fromThousandths } from "../result.ts";
import { columnsOf, type Dimension, type GroupKey, type ResultFilter } from "../search/filter.ts";
import { type FilterServices, readResultFilter, withTimesAsIds } from "../search/search-results.ts";
import { clusteredCells, hasClusters, isCountedByTag, resultCells, tagCells } from "./cells-store.ts";
import {
  type ClusterTotals,
  type GroupTotals,
  hasResultAt,
  type RollupFilter,
  rollupCells,
  type SummaryCell,
  selectGroupTotals,
  toRollupFilter,
  toTagRollupFilter,
} from "./summary-store.ts";

/** Makes a response of 4 MB, which is more than anyone reads or draws. */
const maxGroups = 10_000;
/** Results in clusters are read one by one for the intervals, which takes seconds for this many. */
const maxClusteredResults = 2_000_000;

interface WantedSummary {
  filter: ResultFilter;
  dimensions: readonly Dimension[];
  /** The name of the tag to group by, with the dimension `tag`. */
  tag?: string | undefined;
  /** Without intervals, no result is read for a filter that the rollup answers. */
  hasIntervals: boolean;
}

interface Summary {
  /** Whether the figures come from the counts made at write time or from the results themselves. */
  source: "rollups" | "results";
  groups: SummaryGroup[];
}

/** A summary of more groups than a response may have. */
class TooManyGroupsError extends Error {
  constructor() {
    super(`There are more than ${maxGroups} groups; use fewer dimensions or a narrower filter`);
    this.name = "TooManyGroupsError";
  }
}

/** The figures of an account's results, which are the same from both sources. Throws `TooManyGroupsError`. */
export async function summarise(
  { store }: { store: Store },
  requester: Requester,
  { filter, dimensions, tag, hasIntervals }: WantedSummary,
): Promise<Summary> {
  const { accountId } = requester;
  const reader = store.reader(requester);
  const columns = [...new Set<keyof GroupKey>(dimensions.flatMap((dimension) => columnsOf[dimension]))];
  const tagToGroupBy = dimensions.includes("tag") ? tag : undefined;
  const rollup = await findRollup(reader, accountId, filter, dimensions, tagToGroupBy);
  const isClustered = hasIntervals && (await hasClusters(reader, accountId, filter.evaluatorId));
  const ofResults = rollup && !isClustered ? filter : await withTimesAsIds(reader, filter);
  const wanted = { accountId, filter: ofResults, columns, tag: tagToGroupBy };
  const cells = rollup?.cells(columns) ?? resultCells(wanted);
  const clustered = isClustered
    ? clusteredCells(reader, { ...wanted, limit: maxClusteredResults + 1 })
    : undefined;
  const totals = await selectGroupTotals(reader, { cells, clustered, columns, limit: maxGroups + 1 });
  if (totals.length > maxGroups) throw new TooManyGroupsError();
  const clusteredResults = totals.reduce((sum, { clustered_results }) => sum + (clustered_results ?? 0), 0);
  return {
    source: rollup ? "rollups" : "results",
    groups: toSummaryGroups(totals, columns, hasIntervals && clusteredResults <= maxClusteredResults),
  };
}

type CellsOf = (columns: readonly (keyof GroupKey)[]) => Expression<SummaryCell>;

/** The counts that answer a filter, if there are any. */
async function findRollup(
  reader: Database,
  accountId: string,
  filter: ResultFilter,
  dimensions: readonly Dimension[],
  tagToGroupBy: string | undefined,
): Promise<{ cells: CellsOf } | undefined> {
  const isRight = async ({ exceptAt }: RollupFilter) =>
    exceptAt === undefined || !(await hasResultAt(reader, exceptAt));
  const rollup = toRollupFilter(filter, dimensions);
  if (rollup !== undefined) {
    if (!(await isRight(rollup))) return undefined;
    return {
      cells: (columns) =>
        rollupCells(
          reader,
          accountId,
          rollup,
          columns.filter((column) => column !== "tag"),
        ),
    };
  }
  const byTag = toTagRollupFilter(filter, dimensions, tagToGroupBy);
  if (byTag === undefined || !(await isCountedByTag(reader, accountId, byTag.tag.name))) return undefined;
  if (!(await isRight(byTag.rollup))) return undefined;
  return {
    cells: (columns) => tagCells(reader, { accountId, filter: byTag.rollup, columns, tag: byTag.tag }),
  };
}

const summaryOfResults = route("POST", "/v1/evaluation-results/summary", {
  needs: "read",
  id: "summariseEvaluationResults",
  summary: "Summarise results by group",
  description:
    "Counts results and gives pass rates, mean scores and quantiles, by evaluator, profile, app, tag, UTC day or run. Without a `status`, all results are counted.",
  body: EvaluationSummaryRequest,
  refusesUnknown: true,
  bodyExample: {
    group_by: ["evaluator", "day"],
    app: "night-runs",
  },
  hasOldNames: true,
  responses: {
    "200": response(
      "The groups, by day if requested, then largest first",
      EvaluationSummaryResponse,
      examples.summary,
    ),
  },
  async handle(services: FilterServices, { requester, body }) {
    const dimensions = body.group_by ?? [];
    if (dimensions.includes("tag") && !body.tag) {
      throw new InvalidRequestError([missing(["body", "tag"], body)]);
    }
    const filter = await readResultFilter(services, requester, body);
    const hasIntervals = body.intervals ?? true;
    const wanted = { filter, dimensions, tag: body.tag ?? undefined, hasIntervals };
    const { source, groups } = await summarise(services, requester, wanted).catch((error: unknown) => {
      if (!(error instanceof TooManyGroupsError)) throw error;
      throw new InvalidRequestError([valueError(["body", "group_by"], error.message, dimensions)]);
    });
    return reply(200, {
      source,
      groups: groups.map(({ key, ...figures }) => ({ key: toKey(key), ...figures })),
    });
  },
});

export const summaryRoutes = [summaryOfResults];

/** In the store, an empty text or 0 means none; in a response, none is null. */
function toKey(key: SummaryGroup["key"]): EvaluationSummaryGroup["key"] {
  const { evaluator_id, evaluator_family, profile_name, profile_public_id, profile_revision } = key;
  return {
    // Only imported results have no family.
    evaluator_id: evaluator_id && evaluator_family === "" ? toExternalName(evaluator_id) : evaluator_id,
    evaluator_family: orNull(evaluator_family),
    profile_name: orNull(profile_name),
    evaluator_profile_public_id: orNull(profile_public_id),
    evaluator_profile_revision: orNull(profile_revision),
    app: key.app,
    tag: key.tag,
    day: key.day === undefined ? undefined : toIsoDay(key.day),
    evaluation_run_id: orNull(key.run_id),
  };
}

function orNull<Value>(value: Value | undefined): Value | null | undefined {
  return value === undefined ? undefined : value || null;
}

/** A group of the response, with the key as the store has it; figures are null if there are too few results. */
type SummaryGroup = Omit<EvaluationSummaryGroup, "key"> & { key: GroupKey };

/** The figures of every group, by day if that is a dimension, then the largest groups first. */
export function toSummaryGroups(
  totals: readonly (GroupTotals & Partial<ClusterTotals>)[],
  columns: readonly (keyof GroupKey)[],
  hasIntervals: boolean,
): SummaryGroup[] {
  return totals
    .map((group) => ({ name: nameOf(group, columns), group }))
    .sort(
      (a, b) =>
        (a.group.day ?? 0) - (b.group.day ?? 0) ||
        b.group.count - a.group.count ||
        (a.name < b.name ? -1 : 1),
    )
    .map(({ group }) => toSummaryGroup(group, columns, hasIntervals));
}

/** Unique for each group: no stored text contains a NUL. */
function nameOf(key: GroupKey, columns: readonly (keyof GroupKey)[]): string {
  return columns.map((column) => (key[column] === null ? "\0" : `\0=${key[column]}`)).join("");
}

function toSummaryGroup(
  totals: GroupTotals & Partial<ClusterTotals>,
  columns: readonly (keyof GroupKey)[],
  hasIntervals: boolean,
): SummaryGroup {
  const { count, scored, passed, not_passed, not_applicable, failed, score_sum } = totals;
  const judged = passed + not_passed;
  const intervals = hasIntervals ? intervalsOf(totals) : noIntervals;
  return {
    key: Object.fromEntries(columns.map((column) => [column, totals[column]])),
    count,
    scored,
    passed,
    not_passed,
    not_applicable,
    failed,
    interval_method: intervals.interval_method,
    clusters: intervals.clusters,
    pass_rate: judged === 0 ? null : passed / judged,
    pass_rate_interval: intervals.pass_rate_interval,
    mean_score: scored === 0 ? null : score_sum / scored,
    mean_score_interval: intervals.mean_score_interval,
    p10: fromThousandths(totals.p10),
    p50: fromThousandths(totals.p50),
    p90: fromThousandths(totals.p90),
  };
}

type Intervals = Pick<
  SummaryGroup,
  "interval_method" | "clusters" | "pass_rate_interval" | "mean_score_interval"
>;

const noIntervals: Intervals = {
  interval_method: null,
  clusters: null,
  pass_rate_interval: null,
  mean_score_interval: null,
};

function intervalsOf(totals: GroupTotals & Partial<ClusterTotals>): Intervals {
  const scores = momentsOfScores(totals);
  if (!totals.clustered_results) {
    const { passed, not_passed, scored, score_sum } = totals;
    return {
      interval_method: "independent",
      clusters: null,
      pass_rate_interval: wilsonInterval(passed, passed + not_passed),
      mean_score_interval: areVerdicts(totals)
        ? wilsonInterval(score_sum, scored)
        : scoreInterval(scores, clusteredError(scores)),
    };
  }
  const verdicts = momentsOfVerdicts(totals);
  const intervalOfScores = areVerdicts(totals) ? rateInterval : scoreInterval;
  return {
    interval_method: "clustered",
    clusters: verdicts.count > 0 ? verdicts.clusters : scores.clusters,
    pass_rate_interval: rateInterval(verdicts, clusteredError(verdicts)),
    mean_score_interval: intervalOfScores(scores, clusteredError(scores)),
  };
}

/** Whether all scores are 0 or 1: their mean is then a rate, and gets the interval of a rate. */
function areVerdicts({ score_sum, score_sum_of_squares }: GroupTotals): boolean {
  return score_sum === score_sum_of_squares;
}

/** A result without a cluster is a cluster by itself. */
function momentsOfVerdicts(totals: GroupTotals & Partial<ClusterTotals>): ClusteredMoments {
  const { passed, not_passed } = totals;
  const count = passed + not_passed;
  const alone = count - (totals.judged_in_clusters ?? 0);
  const aloneAndPassed = passed - (totals.passed_in_clusters ?? 0);
  return {
    clusters: (totals.judged_clusters ?? 0) + alone,
    count,
    sum: passed,
    sumSquares: (totals.passed_squares ?? 0) + aloneAndPassed,
    countSums: (totals.judged_passed ?? 0) + aloneAndPassed,
    countSquares: (totals.judged_squares ?? 0) + alone,
  };
}

function momentsOfScores(totals: GroupTotals & Partial<ClusterTotals>): ClusteredMoments {
  const { scored: count, score_sum: sum, score_sum_of_squares } = totals;
  const alone = count - (totals.scored_in_clusters ?? 0);
  return {
    clusters: (totals.scored_clusters ?? 0) + alone,
    count,
    sum,
    sumSquares: (totals.score_squares ?? 0) + (score_sum_of_squares - (totals.scores_squared ?? 0)),
    countSums: (totals.scored_scores ?? 0) + (sum - (totals.score_sum_in_clusters ?? 0)),
    countSquares: (totals.scored_squares ?? 0) + alone,
  };
}
