import { ServiceError } from "../../platform/errors.ts";
import type { Requester } from "../../platform/storage/reader.ts";
import type { StoredResult } from "../evaluation-record.ts";
import type { EvaluationServices } from "../evaluation-services.ts";
import { selectOwnId, selectPayloadBytes, selectResult } from "./stored-results-store.ts";

export async function findResult(
  { store }: Pick<EvaluationServices, "store">,
  requester: Requester,
  id: number,
): Promise<StoredResult> {
  const result = await selectResult(store.briefReader(requester), requester.accountId, id);
  if (result === undefined) throw noSuchResult();
  return result;
}

/** Approximate size of a result's payload in bytes; 0 if the account has no such result. */
export async function measureResult(
  { store }: Pick<EvaluationServices, "store">,
  requester: Requester,
  id: number,
): Promise<number> {
  const reader = store.briefReader(requester);
  const ownId = await selectOwnId(reader, requester.accountId, id);
  return ownId === undefined ? 0 : ((await selectPayloadBytes(reader, [ownId])).get(ownId) ?? 0);
}

export function noSuchResult(): ServiceError {
  return new ServiceError("not_found", "There is no such evaluation result.");
}
