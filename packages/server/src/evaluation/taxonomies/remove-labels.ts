import type { Database } from "../../storage/tables.ts";
import { holdTaxonomyOf, type TaxonomyRevision } from "./error-taxonomies-store.ts";
import { deleteLabels } from "./error-taxonomy-labels-store.ts";
import { findRevision } from "./find-revision.ts";
import { noSuchRevision } from "./no-such-revision.ts";

/** Takes labels off a revision; those that it does not bear are passed over. */
export async function removeLabels(
  database: Database,
  accountId: string,
  revisionId: string,
  labels: readonly string[],
): Promise<TaxonomyRevision> {
  return await database.transaction().execute(async (transaction) => {
    const taxonomyId = await holdTaxonomyOf(transaction, accountId, revisionId);
    if (taxonomyId === undefined) throw noSuchRevision();
    await deleteLabels(transaction, revisionId, labels);
    return await findRevision(transaction, accountId, revisionId);
  });
}
