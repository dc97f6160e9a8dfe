import { ServiceError } from "../platform/errors.ts";
import type { Requester } from "../platform/storage/reader.ts";
import type { Store } from "../platform/storage/store.ts";
import {
  type StoredPayload,
  type StoredPrediction,
  selectPayload,
  selectPrediction,
} from "./kept-predictions-store.ts";

type Services = { store: Store };

/** A prediction of the requester's account, and how many characters its texts have. */
export async function findPrediction(
  { store }: Services,
  requester: Requester,
  id: string,
): Promise<StoredPrediction & { characters: number }> {
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
