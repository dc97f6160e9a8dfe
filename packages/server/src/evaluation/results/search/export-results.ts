import { readInPieces } from "../../../storage/read-in-pieces.ts";
import type { Asker } from "../../../storage/reader.ts";
import type { EvaluationServices } from "../../evaluation-services.ts";
import type { StoredResult } from "../record/evaluation-record.ts";
import { selectPayloadBytes } from "../record/payload-bytes-store.ts";
import { selectResults } from "../record/stored-results-store.ts";
import type { Page, SearchFilter } from "./result-filter.ts";
import { searchIds } from "./search-ids.ts";

const idsPerPage = 1_000;

/** All of an account's results of a filter, a piece at a time and no piece empty. They are read as they are asked for. */
export async function* exportResults(
  { store }: Pick<EvaluationServices, "store">,
  asker: Asker,
  filter: SearchFilter,
  order: Page["order"],
): AsyncGenerator<StoredResult[], void> {
  const { accountId } = asker;
  const reader = store.reader(asker);
  let rest = filter;
  for (;;) {
    const ids = await searchIds(reader, accountId, rest, { order, limit: idsPerPage });
    const bytesOf = await selectPayloadBytes(reader, ids);
    yield* readInPieces(ids, bytesOf, (some) => selectResults(reader, accountId, some)).read();
    const last = ids.at(-1);
    if (last === undefined || ids.length < idsPerPage) return;
    rest = { ...filter, [order === "newest-first" ? "beforeId" : "afterId"]: last };
  }
}
