import type { Database } from "../../storage/schema/tables.ts";
import { holdTaxonomyOf, type TaxonomyRevision } from "./error-taxonomies-store.ts";
import { findRevision } from "./find-revision.ts";
import { noSuchRevision } from "./no-such-revision.ts";

/** Changes a revision's labels while nobody else changes its taxonomy's, and returns it as it then is. */
export async function changeLabels(
  database: Database,
  accountId: string,
  revisionId: string,
  change: (transaction: Database, taxonomyId: string) => Promise<void>,
): Promise<TaxonomyRevision> {
  return await database.transaction().execute(async (transaction) => {
    const taxonomyId = await holdTaxonomyOf(transaction, accountId, revisionId);
    if (taxonomyId === undefined) throw noSuchRevision();
    await change(transaction, taxonomyId);
    return await findRevision(transaction, accountId, revisionId);
  });
}
