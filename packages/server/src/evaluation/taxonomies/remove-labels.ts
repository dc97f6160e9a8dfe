import type { Database } from "../../storage/tables.ts";
import { changeLabels } from "./change-labels.ts";
import type { TaxonomyRevision } from "./error-taxonomies-store.ts";
import { deleteLabels } from "./error-taxonomy-labels-store.ts";

/** Takes labels off a revision; those that it does not bear are passed over. */
export function removeLabels(
  database: Database,
  accountId: string,
  revisionId: string,
  labels: readonly string[],
): Promise<TaxonomyRevision> {
  return changeLabels(database, accountId, revisionId, (transaction) =>
    deleteLabels(transaction, revisionId, labels),
  );
}
