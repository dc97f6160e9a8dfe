import { ServiceError } from "../../errors.ts";
import type { Database } from "../../storage/tables.ts";
import type { KeptResult } from "./evaluation-record.ts";
import { selectPayloadBytes } from "./payload-bytes-store.ts";
import { readResults } from "./read-results.ts";
import type { Page, SearchFilter } from "./result-filter.ts";
import { searchIds } from "./search-ids.ts";

/** An answer holds all of a page, each text under its new name and its old one. */
const maxBytesOfPage = 64_000_000;

/** An account's results of a filter. The next page goes on from the last id of this one. */
export async function searchResults(
  reader: Database,
  accountId: string,
  filter: SearchFilter,
  page: Page,
): Promise<KeptResult[]> {
  const ids = await searchIds(reader, accountId, filter, page);
  const bytesOf = await selectPayloadBytes(reader, ids, page.maxTextCharacters);
  refuseTooLarge([...bytesOf.values()]);
  return (await Array.fromAsync(readResults(reader, accountId, ids, bytesOf, page.maxTextCharacters))).flat();
}

/** One result alone is answered whatever its size, or nobody could go on from it. */
function refuseTooLarge(bytes: readonly number[]): void {
  const all = bytes.reduce((sum, one) => sum + one, 0);
  if (bytes.length <= 1 || all <= maxBytesOfPage) return;
  throw new ServiceError(
    "body_too_large",
    `The ${bytes.length} results of this page have ${inMegabytes(all)} MB of texts, and a page may have ${inMegabytes(maxBytesOfPage)} MB. Cut the texts with text_limit, or ask for fewer results with limit.`,
  );
}

function inMegabytes(bytes: number): number {
  return Math.ceil(bytes / 1_000_000);
}
