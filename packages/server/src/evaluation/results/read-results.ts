import type { Database } from "../../storage/tables.ts";
import type { KeptResult } from "./evaluation-record.ts";
import { selectResults } from "./kept-results-store.ts";
import { splitByBytes } from "./split-by-bytes.ts";

/** What is read at once. While it crosses threads and is written anew, a text takes several times its memory. */
const piece = { maxIds: 100, maxBytes: 4_000_000 };

/** Results of an account by their ids, in the same order, a piece at a time. */
export async function* readResults(
  reader: Database,
  accountId: string,
  ids: readonly number[],
  bytesOf: ReadonlyMap<number, number>,
  maxTextCharacters?: number,
): AsyncGenerator<KeptResult[], void> {
  for (const some of splitByBytes(ids, bytesOf, piece)) {
    yield await selectResults(reader, accountId, some, maxTextCharacters);
  }
}
