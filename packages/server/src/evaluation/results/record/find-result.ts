import { ServiceError } from "../../../errors.ts";
import type { Asker } from "../../../storage/reader.ts";
import type { EvaluationServices } from "../../evaluation-services.ts";
import type { StoredResult } from "./evaluation-record.ts";
import { selectResult } from "./stored-results-store.ts";

export async function findResult(
  { store }: Pick<EvaluationServices, "store">,
  asker: Asker,
  id: number,
): Promise<StoredResult> {
  const result = await selectResult(store.briefReader(asker), asker.accountId, id);
  if (result === undefined) throw noSuchResult();
  return result;
}

export function noSuchResult(): ServiceError {
  return new ServiceError("not_found", "There is no such evaluation result.");
}
