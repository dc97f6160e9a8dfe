import { ServiceError } from "../../platform/errors.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";

/** Labels are listed with their revision. */
const maxLabels = 1_000;

/** Adds labels to a revision, after those that it has, and removes them from other revisions of the taxonomy. */
export async function moveLabels(
  database: Database,
  taxonomyId: string,
  revisionId: string,
  labels: readonly string[],
): Promise<void> {
  const present = await selectLabels(database, [revisionId]);
  const last = present.at(-1)?.position ?? 0;
  const added = new Set(labels).difference(new Set(present.map(({ label }) => label)));
  if (added.size === 0) return;
  if (present.length + added.size > maxLabels) throw tooManyLabels();
  await database
    .insertInto("error_taxonomy_labels")
    .values(
      [...added].map((label, index) => ({
        taxonomy_id: taxonomyId,
        label,
        revision_id: revisionId,
        position: last + 1 + index,
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(["taxonomy_id", "label"]).doUpdateSet((row) => ({
        revision_id: row.ref("excluded.revision_id"),
        position: row.ref("excluded.position"),
      })),
    )
    .execute();
}

function tooManyLabels(): ServiceError {
  return new ServiceError(
    "conflict",
    `A revision can have at most ${maxLabels} labels. Remove some of them first.`,
  );
}

/** Removes those of the labels that a revision has. */
export async function deleteLabels(
  database: Database,
  revisionId: string,
  labels: readonly string[],
): Promise<void> {
  const wanted = new Set(labels);
  const present = await selectLabels(database, [revisionId]);
  const gone = present.map(({ label }) => label).filter((label) => wanted.has(label));
  if (gone.length === 0) return;
  await database
    .deleteFrom("error_taxonomy_labels")
    .where("revision_id", "=", revisionId)
    .where("label", "in", gone)
    .execute();
}

/** The labels of revisions, each in the order in which they were set. */
export async function selectLabels(database: Database, revisionIds: readonly string[]) {
  if (revisionIds.length === 0) return [];
  return await database
    .selectFrom("error_taxonomy_labels")
    .select(["revision_id", "label", "position"])
    .where("revision_id", "in", revisionIds)
    .orderBy("position")
    .execute();
}
