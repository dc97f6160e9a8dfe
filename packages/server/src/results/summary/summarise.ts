import type { Expression } from "kysely";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { Requester, Store } from "../../platform/storage/store.ts";
import { columnsOf, type Dimension, type GroupKey, type ResultFilter } from "../search/filter.ts";
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
export class TooManyGroupsError extends Error {
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
