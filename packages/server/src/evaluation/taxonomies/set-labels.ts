import type { Database } from "../../storage/tables.ts";
import { holdTaxonomyOf, type TaxonomyRevision } from "./error-taxonomies-store.ts";
import { moveLabels } from "./error-taxonomy-labels-store.ts";
import { findRevision } from "./find-revision.ts";
import { noSuchRevision } from "./no-such-revision.ts";

/** Adds labels to a revision; those that another revision of its taxonomy bears move. */
export async function setLabels(
  database: Database,
  accountId: string,
  revisionId: string,
  labels: readonly string[],
): Promise<TaxonomyRevision> {
  return await database.transaction().execute(async (transaction) => {
    const taxonomyId = await holdTaxonomyOf(transaction, accountId, revisionId);
    if (taxonomyId === undefined) throw noSuchRevision();
    await moveLabels(transaction, taxonomyId, revisionId, labels);
    return await findRevision(transaction, accountId, revisionId);
  });
}
