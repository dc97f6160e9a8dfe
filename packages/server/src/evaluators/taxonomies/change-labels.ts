import type { Changer } from "../../platform/actor.ts";
import { recordChange } from "../../platform/record-change.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { EvaluationServices } from "../../results/evaluation-services.ts";
import { builtInIsFixed, builtInRevisions, isBuiltInRevision } from "./built-in-revisions.ts";
import { lockTaxonomyOf, type TaxonomyRevision } from "./error-taxonomies-store.ts";
import { deleteLabels, moveLabels } from "./error-taxonomy-labels-store.ts";
import { findRevision, noSuchRevision } from "./find-revision.ts";

/** Adds labels to a revision. Labels of another revision of its taxonomy move. */
export async function setLabels(
  { store }: Pick<EvaluationServices, "store">,
  requester: Changer,
  revisionId: string,
  labels: readonly string[],
): Promise<TaxonomyRevision> {
  if (isBuiltInRevision(revisionId)) throw builtInIsFixed();
  return await changeLabels(
    store.writer(requester),
    requester,
    { revisionId, labels, action: "error_taxonomy.set_labels" },
    (transaction, taxonomyId) => moveLabels(transaction, taxonomyId, revisionId, labels),
  );
}

/** Removes labels from a revision; labels that it lacks are ignored. */
export async function removeLabels(
  { store }: Pick<EvaluationServices, "store">,
  requester: Changer,
  revisionId: string,
  labels: readonly string[],
): Promise<TaxonomyRevision> {
  const [builtIn] = builtInRevisions(requester.accountId, { revisionId });
  if (builtIn !== undefined) {
    if (labels.some((label) => builtIn.labels.includes(label))) throw builtInIsFixed();
    return builtIn;
  }
  return await changeLabels(
    store.writer(requester),
    requester,
    { revisionId, labels, action: "error_taxonomy.remove_labels" },
    (transaction) => deleteLabels(transaction, revisionId, labels),
  );
}

interface LabelChange {
  revisionId: string;
  labels: readonly string[];
  action: "error_taxonomy.set_labels" | "error_taxonomy.remove_labels";
}

/** Changes a revision's labels with its taxonomy locked, and returns the changed revision. */
async function changeLabels(
  database: Database,
  changer: Changer,
  { revisionId, labels, action }: LabelChange,
  change: (transaction: Database, taxonomyId: string) => Promise<void>,
): Promise<TaxonomyRevision> {
  const { accountId } = changer;
  return await database.transaction().execute(async (transaction) => {
    const taxonomyId = await lockTaxonomyOf(transaction, accountId, revisionId);
    if (taxonomyId === undefined) throw noSuchRevision();
    await change(transaction, taxonomyId);
    const detail = { revision_id: revisionId, labels };
    await recordChange(transaction, changer, { action, objectId: taxonomyId, detail });
    return await findRevision(transaction, accountId, revisionId);
  });
}
