import { maxCountedPredictions } from "@presage/contract";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { PredictionFilter } from "./matching-predictions-store.ts";
import { countedColumns, selectValueCounts, type ValueCount } from "./prediction-values-store.ts";

const most = maxCountedPredictions;

/** What each filter can be set to. A filter's own value does not hide the others that could be chosen. */
export async function countValues(
  reader: Database,
  accountId: string,
  filter: PredictionFilter,
): Promise<ValueCount[]> {
  const unfiltered = countedColumns.filter((column) => filter[column] === undefined);
  const counts = await selectValueCounts(reader, accountId, { columns: unfiltered, filter, most });
  for (const column of countedColumns) {
    const { [column]: own, ...others } = filter;
    if (own === undefined) continue;
    counts.push(...(await selectValueCounts(reader, accountId, { columns: [column], filter: others, most })));
  }
  return counts;
}
