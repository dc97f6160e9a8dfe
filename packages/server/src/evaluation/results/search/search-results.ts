import { type Pieces, readInPieces, refuseLargePage } from "../../../storage/read-in-pieces.ts";
import type { Asker } from "../../../storage/reader.ts";
import type { EvaluationServices } from "../../evaluation-services.ts";
import type { StoredResult } from "../record/evaluation-record.ts";
import { selectPayloadBytes } from "../record/payload-bytes-store.ts";
import { selectResults } from "../record/stored-results-store.ts";
import type { Page, SearchFilter } from "./result-filter.ts";
import { searchIds } from "./search-ids.ts";

/** An account's results of a filter, which have yet to be read. The next page goes on from the last id of this one. */
export async function searchResults(
  { store }: Pick<EvaluationServices, "store">,
  asker: Asker,
  filter: SearchFilter,
  page: Page,
): Promise<Pieces<StoredResult>> {
  const { accountId } = asker;
  const reader = store.reader(asker);
  const ids = await searchIds(reader, accountId, filter, page);
  const bytesOf = await selectPayloadBytes(reader, ids, page.maxTextCharacters);
  refuseLargePage(
    [...bytesOf.values()],
    "results",
    "Cut the texts with text_limit, or ask for fewer results with limit.",
  );
  return readInPieces(ids, bytesOf, (some) => selectResults(reader, accountId, some, page.maxTextCharacters));
}
