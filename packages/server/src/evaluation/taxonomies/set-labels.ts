import type { Asker } from "../../storage/reader.ts";
import type { EvaluationServices } from "../evaluation-services.ts";
import { builtInIsFixed } from "./built-in/built-in-is-fixed.ts";
import { isBuiltInRevision } from "./built-in/built-in-revisions.ts";
import { changeLabels } from "./change-labels.ts";
import type { TaxonomyRevision } from "./error-taxonomies-store.ts";
import { moveLabels } from "./error-taxonomy-labels-store.ts";

/** Adds labels to a revision; those that another revision of its taxonomy bears move. */
export async function setLabels(
  { store }: Pick<EvaluationServices, "store">,
  asker: Asker,
  revisionId: string,
  labels: readonly string[],
): Promise<TaxonomyRevision> {
  if (isBuiltInRevision(revisionId)) throw builtInIsFixed();
  return await changeLabels(store.writer(asker), asker.accountId, revisionId, (transaction, taxonomyId) =>
    moveLabels(transaction, taxonomyId, revisionId, labels),
  );
}
