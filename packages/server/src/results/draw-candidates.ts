import type { Database } from "../platform/storage/schema/tables.ts";
import { selectMatching } from "./review-store.ts";
import type { SearchFilter } from "./search/result-filter.ts";
import { selectResultIds } from "./search/search-store.ts";

/** As many primary keys are looked up by one statement. */
const drawsAtOnce = 2_000;
/** Where fewer than one in a thousand results matches, a draw of fewer ids has to do. */
const maxDraws = 50_000;

interface DrawWanted {
  accountId: string;
  filter: SearchFilter;
  seed: number;
  /** How many ids to draw. */
  count: number;
}

/** Ids of results that match, each as likely as any other: ids of the whole range are drawn, and those that match are kept. */
export async function drawCandidates(
  reader: Database,
  { accountId, filter, seed, count }: DrawWanted,
): Promise<number[]> {
  const end = async (order: "newest-first" | "oldest-first") =>
    (await selectResultIds(reader, { accountId, filter, page: { order, limit: 1 } }))[0];
  const [first, last] = [await end("oldest-first"), await end("newest-first")];
  if (first === undefined || last === undefined) return [];
  const drawn = new Set<number>();
  for (let from = 0; from < maxDraws && drawn.size < count; from += drawsAtOnce) {
    const ids = Array.from({ length: drawsAtOnce }, (_, index) => drawId(seed, from + index, first, last));
    const matching = await selectMatching(reader, { accountId, filter }, [...new Set(ids)]);
    for (const id of matching) drawn.add(id);
  }
  return [...drawn];
}

/** The same for the same seed on every machine. */
function drawId(seed: number, index: number, first: number, last: number): number {
  return first + Number(Bun.hash(`${seed} ${index}`) % BigInt(last - first + 1));
}
