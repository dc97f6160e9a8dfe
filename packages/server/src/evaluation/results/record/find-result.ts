import { ServiceError } from "../../../errors.ts";
import type { Asker } from "../../../storage/reader.ts";
import type { EvaluationServices } from "../../evaluation-services.ts";
import type { StoredResult } from "./evaluation-record.ts";
import { selectOwnId, selectPayloadBytes, selectResult } from "./stored-results-store.ts";

export async function findResult(
  { store }: Pick<EvaluationServices, "store">,
  asker: Asker,
  id: number,
): Promise<StoredResult> {
  const result = await selectResult(store.briefReader(asker), asker.accountId, id);
  if (result === undefined) throw noSuchResult();
  return result;
}

/** Approximate size of a result's payload in bytes; 0 if the account has no such result. */
export async function measureResult(
  { store }: Pick<EvaluationServices, "store">,
  asker: Asker,
  id: number,
): Promise<number> {
  const reader = store.briefReader(asker);
  const ownId = await selectOwnId(reader, asker.accountId, id);
  return ownId === undefined ? 0 : ((await selectPayloadBytes(reader, [ownId])).get(ownId) ?? 0);
}

export function noSuchResult(): ServiceError {
  return new ServiceError("not_found", "There is no such evaluation result.");
}
