import { type Pieces, readInPieces, refuseLargePage } from "../../platform/storage/read-in-pieces.ts";
import type { Requester } from "../../platform/storage/reader.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { EvaluationServices } from "../../results/evaluation-services.ts";
import { builtInRevisions } from "./built-in-revisions.ts";
import {
  countTaxonomyRevisions,
  selectRevisionSizes,
  selectRevisions,
  type TaxonomyRevision,
  type TaxonomyRevisionFilter,
} from "./error-taxonomies-store.ts";

/** The revisions that an account sees: its own, newest first, then the built-in ones. */
export async function listRevisions(
  { store }: Pick<EvaluationServices, "store">,
  requester: Requester,
  filter: TaxonomyRevisionFilter,
): Promise<Pieces<TaxonomyRevision>> {
  const { accountId } = requester;
  const reader = store.briefReader(requester);
  const own = await selectRevisionSizes(reader, accountId, filter);
  const builtIn = await builtInAfter(reader, accountId, filter, own.length);
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

/** The built-in revisions of a page, after its `own` revisions of the account. */
async function builtInAfter(
  reader: Database,
  accountId: string,
  filter: TaxonomyRevisionFilter,
  own: number,
): Promise<TaxonomyRevision[]> {
  const builtIn = builtInRevisions(accountId, filter);
  if (own === filter.limit || builtIn.length === 0) return [];
  // A page with some of the account's revisions is the last such page; on one without, a count tells how many were skipped.
  const isPast = own === 0 && filter.offset > 0;
  const skipped = isPast ? filter.offset - (await countTaxonomyRevisions(reader, accountId, filter)) : 0;
  return builtIn.slice(skipped, skipped + filter.limit - own);
}
