import type { Asker } from "../../storage/reader.ts";
import type { EvaluationServices } from "../evaluation-services.ts";
import { builtInIsFixed } from "./built-in/built-in-is-fixed.ts";
import { builtInRevisions } from "./built-in/built-in-revisions.ts";
import { changeLabels } from "./change-labels.ts";
import type { TaxonomyRevision } from "./error-taxonomies-store.ts";
import { deleteLabels } from "./error-taxonomy-labels-store.ts";

/** Takes labels off a revision; those that it does not bear are passed over. */
export async function removeLabels(
  { store }: Pick<EvaluationServices, "store">,
  asker: Asker,
  revisionId: string,
  labels: readonly string[],
): Promise<TaxonomyRevision> {
  const [builtIn] = builtInRevisions(asker.accountId, { revisionId });
  if (builtIn !== undefined) {
    if (labels.some((label) => builtIn.labels.includes(label))) throw builtInIsFixed();
    return builtIn;
  }
  return await changeLabels(store.writer(asker), asker.accountId, revisionId, (transaction) =>
    deleteLabels(transaction, revisionId, labels),
  );
}
