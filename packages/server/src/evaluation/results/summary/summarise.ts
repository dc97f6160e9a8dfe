import type { Asker } from "../../../storage/reader.ts";
import type { EvaluationServices } from "../../evaluation-services.ts";
import type { ResultFilter } from "../search/result-filter.ts";
import { selectGroupTotals } from "./group-totals-store.ts";
import { resultCells } from "./result-cells-store.ts";
import { toRollupFilter } from "./rollup-filter.ts";
import { hasResultAt, rollupCells } from "./rollup-store.ts";
import { columnsOf, type Dimension, type GroupKey } from "./summary-dimensions.ts";
import { type SummaryGroup, toSummaryGroups } from "./summary-group.ts";

/** An answer of 4 MB, and more than anybody reads or draws. */
const maxGroups = 10_000;

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

/** A summary of more groups than one answer takes. */
export class TooManyGroupsError extends Error {
  constructor() {
    super(
      `There are more than ${maxGroups} groups; fewer dimensions make fewer, and so does a narrower filter`,
    );
    this.name = "TooManyGroupsError";
  }
}

/** The figures of an account's results, or `TooManyGroupsError`. Both sources give the same. */
export async function summarise(
  { store }: Pick<EvaluationServices, "store">,
  asker: Asker,
  { filter, dimensions, tag }: WantedSummary,
): Promise<Summary> {
  const { accountId } = asker;
  const reader = store.reader(asker);
  const columns = [...new Set<keyof GroupKey>(dimensions.flatMap((dimension) => columnsOf[dimension]))];
  const rollup = toRollupFilter(filter, dimensions);
  const isInRollup =
    rollup !== undefined && (rollup.exceptAt === undefined || !(await hasResultAt(reader, rollup.exceptAt)));
  const cells = isInRollup
    ? rollupCells(
        reader,
        accountId,
        rollup,
        columns.filter((column) => column !== "tag"),
      )
    : resultCells(accountId, filter, columns, dimensions.includes("tag") ? tag : undefined);
  const totals = await selectGroupTotals(reader, cells, columns, maxGroups + 1);
  if (totals.length > maxGroups) throw new TooManyGroupsError();
  return { source: isInRollup ? "rollups" : "results", groups: toSummaryGroups(totals, columns) };
}
