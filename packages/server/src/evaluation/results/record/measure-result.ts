import type { Database } from "../../../storage/schema/tables.ts";
import { selectPayloadBytes } from "./payload-bytes-store.ts";
import { selectOwnId } from "./results-store.ts";

/** About how many bytes the payload of a result takes; 0 if the account has no such result. */
export async function measureResult(reader: Database, accountId: string, id: number): Promise<number> {
  const own = await selectOwnId(reader, accountId, id);
  if (own === undefined) return 0;
  return (await selectPayloadBytes(reader, [own])).get(own) ?? 0;
}
