import type { Database } from "../../storage/schema/tables.ts";
import { builtInIsFixed } from "./built-in/built-in-is-fixed.ts";
import { builtInRevisions } from "./built-in/built-in-revisions.ts";
import { changeLabels } from "./change-labels.ts";
import type { TaxonomyRevision } from "./error-taxonomies-store.ts";
import { deleteLabels } from "./error-taxonomy-labels-store.ts";

/** Takes labels off a revision; those that it does not bear are passed over. */
export async function removeLabels(
  database: Database,
  accountId: string,
  revisionId: string,
  labels: readonly string[],
): Promise<TaxonomyRevision> {
  const [builtIn] = builtInRevisions(accountId, { revisionId });
  if (builtIn !== undefined) {
    if (labels.some((label) => builtIn.labels.includes(label))) throw builtInIsFixed();
    return builtIn;
  }
  return await changeLabels(database, accountId, revisionId, (transaction) =>
    deleteLabels(transaction, revisionId, labels),
  );
}
