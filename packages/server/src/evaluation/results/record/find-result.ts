import { ServiceError } from "../../../errors.ts";
import type { Database } from "../../../storage/schema/tables.ts";
import { selectResult } from "../keep/kept-results-store.ts";
import type { KeptResult } from "./evaluation-record.ts";

export async function findResult(reader: Database, accountId: string, id: number): Promise<KeptResult> {
  const result = await selectResult(reader, accountId, id);
  if (result === undefined) throw noSuchResult();
  return result;
}

export function noSuchResult(): ServiceError {
  return new ServiceError("not_found", "There is no such evaluation result.");
}
