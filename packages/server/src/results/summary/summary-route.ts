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
import { InvalidRequestError, missing, refuseUnknownFields, valueError } from "../../http/validate.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { Requester, Store } from "../../platform/storage/store.ts";
import { columnsOf, type Dimension, type GroupKey, type ResultFilter } from "../search/filter.ts";
import { type FilterServices, readResultFilter } from "../search/read-filter.ts";
import { withTimesAsIds } from "../search/search-results.ts";
import { clusteredCells, hasClusters, resultCells } from "./result-cells-store.ts";
import { type SummaryGroup, toSummaryGroups } from "./summary-group.ts";
import {
  hasResultAt,
  type RollupFilter,
  rollupCells,
  type SummaryCell,
  selectGroupTotals,
  toRollupFilter,
  toTagRollupFilter,
} from "./summary-store.ts";
import { isCountedByTag, tagCells } from "./tag-cells-store.ts";

/** A response of 4 MB, and more than anyone reads or draws. */
const maxGroups = 10_000;
/** Results in clusters are read one by one for the intervals, which takes seconds for this many. */
const maxClusteredResults = 2_000_000;

export interface WantedSummary {
  filter: ResultFilter;
  dimensions: readonly Dimension[];
  /** The name of the tag to group by, with the dimension `tag`. */
  tag?: string | undefined;
  /** Without them no result is read for a filter that the rollup answers. */
  hasIntervals: boolean;
}

export interface Summary {
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
  const cells = rollup?.cells(columns) ?? resultCells(accountId, ofResults, columns, tagToGroupBy);
  const clustered = isClustered
    ? clusteredCells(reader, accountId, {
        filter: ofResults,
        columns,
        tag: tagToGroupBy,
        limit: maxClusteredResults + 1,
      })
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
  return { cells: (columns) => tagCells(reader, accountId, byTag.rollup, columns, byTag.tag) };
}

const summaryOfResults = route("POST", "/v1/evaluation-results/summary", {
  needs: "read",
  id: "summariseEvaluationResults",
  summary: "Summarise results by group",
  description:
    "Counts results and gives pass rates, mean scores and quantiles, by evaluator, profile, app, tag, UTC day or run. Without a `status`, all results are counted.",
  body: EvaluationSummaryRequest,
  bodyExample: {
    group_by: ["evaluator", "day"],
    app: "night-runs",
  },
  hasOldNames: true,
  responses: {
    "200": response("The groups, by day if requested, then largest first", EvaluationSummaryResponse, {
      source: "rollups",
      groups: [
        {
          key: {
            evaluator_id: "edit-distance-2026-11-21",
            evaluator_family: "edit-distance",
            day: "2026-11-22",
          },
          count: 41,
          scored: 40,
          passed: 30,
          not_passed: 10,
          not_applicable: 0,
          failed: 1,
          interval_method: "independent",
          clusters: null,
          pass_rate: 0.75,
          pass_rate_interval: {
            level: 0.95,
            lower: 0.5980686424286384,
            upper: 0.8581385424466846,
          },
          mean_score: 0.8125,
          mean_score_interval: { level: 0.95, lower: 0.76, upper: 0.865 },
          p10: 0.531,
          p50: 0.88,
          p90: 1,
        },
      ],
    }),
  },
  async handle(services: FilterServices, { requester, body }) {
    const dimensions = body.group_by ?? [];
    if (dimensions.includes("tag") && !body.tag) {
      throw new InvalidRequestError([missing(["body", "tag"], body)]);
    }
    refuseUnknownFields(EvaluationSummaryRequest, body, "body");
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
