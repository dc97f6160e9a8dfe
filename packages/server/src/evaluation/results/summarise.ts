import type { Database } from "../../storage/tables.ts";
import type { ResultFilter } from "./result-filter.ts";
import { toRollupFilter } from "./rollup-filter.ts";
import { hasResultAt, selectRollupCells } from "./rollup-store.ts";
import { type SummaryGroup, summariseCells } from "./summarise-cells.ts";
import { columnsOf, type Dimension, type GroupKey } from "./summary-cell.ts";
import { selectResultCells } from "./summary-store.ts";

export interface WantedSummary {
  filter: ResultFilter;
  dimensions: readonly Dimension[];
  /** With the dimension `tag`: the tag's name. */
  tag?: string | undefined;
}

export interface Summary {
  /** Whether the counts kept at write time answered, or the results one by one. */
  source: "rollups" | "results";
  groups: SummaryGroup[];
}

/** The figures of an account's results. Both sources give the same. */
export async function summarise(
  reader: Database,
  accountId: string,
  { filter, dimensions, tag }: WantedSummary,
): Promise<Summary> {
  const columns = [...new Set<keyof GroupKey>(dimensions.flatMap((dimension) => columnsOf[dimension]))];
  const rollup = toRollupFilter(filter, dimensions);
  if (
    rollup !== undefined &&
    (rollup.exceptAt === undefined || !(await hasResultAt(reader, rollup.exceptAt)))
  ) {
    const held = columns.filter((column) => column !== "tag");
    const cells = await selectRollupCells(reader, accountId, rollup, held);
    return { source: "rollups", groups: summariseCells(cells, columns) };
  }
  const named = dimensions.includes("tag") ? tag : undefined;
  const cells = await selectResultCells(reader, accountId, filter, columns, named);
  return { source: "results", groups: summariseCells(cells, columns) };
}
