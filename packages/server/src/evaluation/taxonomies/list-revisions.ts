import { type Pieces, readInPieces, refuseLargePage } from "../../storage/read-in-pieces.ts";
import type { Asker } from "../../storage/reader.ts";
import type { Database } from "../../storage/schema/tables.ts";
import type { EvaluationServices } from "../evaluation-services.ts";
import { builtInRevisions } from "./built-in/built-in-revisions.ts";
import {
  countRevisions,
  type RevisionFilter,
  selectRevisionSizes,
  selectRevisions,
  type TaxonomyRevision,
} from "./error-taxonomies-store.ts";

/** The revisions that an account sees: its own, the newest first, and behind them those that come with Presage. */
export async function listRevisions(
  { store }: Pick<EvaluationServices, "store">,
  asker: Asker,
  filter: RevisionFilter,
): Promise<Pieces<TaxonomyRevision>> {
  const { accountId } = asker;
  const reader = store.briefReader(asker);
  const own = await selectRevisionSizes(reader, accountId, filter);
  const builtIn = await builtInBehind(reader, accountId, filter, own.length);
  const bytesOf = new Map(own.map(({ id, bytes }) => [id, bytes]));
  refuseLargePage([...bytesOf.values()], "revisions", "Ask for fewer revisions with limit.");
  const ids = [...own, ...builtIn].map(({ id }) => id);
  return readInPieces(ids, bytesOf, async (some) => {
    const read = await selectRevisions(
      reader,
      accountId,
      some.filter((id) => bytesOf.has(id)),
    );
    return [...read, ...builtIn.filter(({ id }) => some.includes(id))];
  });
}

/** The built-in revisions of a page, behind the `own` revisions of the account that it has. */
async function builtInBehind(
  reader: Database,
  accountId: string,
  filter: RevisionFilter,
  own: number,
): Promise<TaxonomyRevision[]> {
  const builtIn = builtInRevisions(accountId, filter);
  if (own === filter.limit || builtIn.length === 0) return [];
  // A page with some of its own is the last such page; on an empty one it takes a count to know how many were passed.
  const isPast = own === 0 && filter.offset > 0;
  const passed = isPast ? filter.offset - (await countRevisions(reader, accountId, filter)) : 0;
  return builtIn.slice(passed, passed + filter.limit - own);
}
