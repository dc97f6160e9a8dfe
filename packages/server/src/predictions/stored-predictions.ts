import { maxCountedPredictions } from "@presage/contract";
import { ServiceError } from "../platform/errors.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import {
  countedColumns,
  type PredictionFilter,
  type StoredPayload,
  type StoredPredictionRow,
  selectPayload,
  selectPrediction,
  selectValueCounts,
  type ValueCount,
} from "./stored-predictions-store.ts";

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

type Services = { store: Store };

/** A prediction of the requester's account, and how many characters its texts have. */
export async function findPrediction(
  { store }: Services,
  requester: Requester,
  id: string,
): Promise<StoredPredictionRow & { characters: number }> {
  const found = await selectPrediction(store.briefReader(requester), requester.accountId, id);
  if (found === undefined) throw noSuchPrediction();
  return found;
}

/** The texts of a prediction. */
export async function findPayload(
  { store }: Services,
  requester: Requester,
  id: string,
): Promise<StoredPayload> {
  const found = await selectPayload(store.briefReader(requester), requester.accountId, id);
  if (found === undefined) throw noSuchPrediction();
  return found;
}

export function noSuchPrediction(): ServiceError {
  return new ServiceError("not_found", "There is no such prediction.");
}
