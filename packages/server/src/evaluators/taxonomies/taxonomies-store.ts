import { conflict, type ServiceError } from "../../platform/errors.ts";
import type { Micros } from "../../platform/storage/columns.ts";
import { bytesIn } from "../../platform/storage/lists.ts";
import { insertRows, unlessNameIsTaken } from "../../platform/storage/rows.ts";
import type {
  Database,
  ErrorTaxonomiesTable,
  ErrorTaxonomyRevisionsTable,
} from "../../platform/storage/schema/tables.ts";

/** The most labels of a revision, which are all listed with it. */
const maxLabels = 1_000;

/** Adds labels to a revision, after those that it has, and removes them from other revisions of the taxonomy. */
export async function moveLabels(
  database: Database,
  taxonomyId: string,
  revisionId: string,
  labels: readonly string[],
): Promise<boolean> {
  const present = await selectLabels(database, [revisionId]);
  const last = present.at(-1)?.position ?? 0;
  const added = new Set(labels).difference(new Set(present.map(({ label }) => label)));
  if (added.size === 0) return false;
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
  return true;
}

function tooManyLabels(): ServiceError {
  return conflict(`A revision can have at most ${maxLabels} labels. Remove some of them first.`);
}

/** Removes the labels that a revision has. */
export async function deleteLabels(database: Database, revisionId: string, labels: readonly string[]) {
  const wanted = new Set(labels);
  const present = await selectLabels(database, [revisionId]);
  const gone = present.map(({ label }) => label).filter((label) => wanted.has(label));
  if (gone.length === 0) return false;
  await database
    .deleteFrom("error_taxonomy_labels")
    .where("revision_id", "=", revisionId)
    .where("label", "in", gone)
    .execute();
  return true;
}

/** The labels of revisions, each in the order in which they were set. */
async function selectLabels(database: Database, revisionIds: readonly string[]) {
  if (revisionIds.length === 0) return [];
  return await database
    .selectFrom("error_taxonomy_labels")
    .select(["revision_id", "label", "position"])
    .where("revision_id", "in", revisionIds)
    .orderBy("position")
    .execute();
}

export interface TaxonomyRevision {
  id: string;
  error_taxonomy_id: string;
  error_taxonomy_name: string;
  error_taxonomy_description: string | null;
  revision: number;
  /** JSON. */
  body: string;
  /** JSON. */
  metadata: string | null;
  labels: string[];
  account_id: string;
  created_at: Micros;
}

export interface TaxonomyRevisionFilter {
  revisionId?: string | undefined;
  taxonomyId?: string | undefined;
  taxonomyName?: string | undefined;
  label?: string | undefined;
  isLatestOnly?: boolean;
  limit: number;
  offset: number;
}

/** Stores a taxonomy unless the account has one of that name; returns whether it did. */
export async function insertTaxonomy(database: Database, row: ErrorTaxonomiesTable) {
  return (await insertRows(database, "error_taxonomies", [row], unlessNameIsTaken)).length > 0;
}

export async function selectTaxonomyId(database: Database, accountId: string, name: string) {
  const taxonomy = await database
    .selectFrom("error_taxonomies")
    .select("id")
    .where("account_id", "=", accountId)
    .where("name", "=", name)
    .executeTakeFirstOrThrow();
  return taxonomy.id;
}

/** Takes the next revision number of a taxonomy, and locks the taxonomy until the transaction ends. */
export async function takeNextTaxonomyRevision(
  database: Database,
  accountId: string,
  taxonomyId: string,
  description: string | undefined,
) {
  const taxonomy = await database
    .updateTable("error_taxonomies")
    .set((row) => ({ last_revision: row("last_revision", "+", 1), description }))
    .where("id", "=", taxonomyId)
    .where("account_id", "=", accountId)
    .returning("last_revision")
    .executeTakeFirst();
  return taxonomy?.last_revision;
}

export async function insertTaxonomyRevision(database: Database, row: ErrorTaxonomyRevisionsTable) {
  await database.insertInto("error_taxonomy_revisions").values(row).execute();
}

/**
 * Locks the taxonomy of a revision until the transaction ends, so that its labels cannot move meanwhile.
 * Returns the taxonomy's id, or undefined if the account has no such revision.
 */
export async function lockTaxonomyOf(database: Database, accountId: string, revisionId: string) {
  // An update that changes nothing locks the row on both databases; SQLite has no `for update`.
  const taxonomy = await database
    .updateTable("error_taxonomies")
    .set((row) => ({ last_revision: row.ref("last_revision") }))
    .where("id", "=", (taxonomies) =>
      taxonomies
        .selectFrom("error_taxonomy_revisions")
        .select("taxonomy_id")
        .where("error_taxonomy_revisions.id", "=", revisionId)
        .where("error_taxonomy_revisions.account_id", "=", accountId),
    )
    .returning("id")
    .executeTakeFirst();
  return taxonomy?.id;
}

/** The ids of an account's revisions that match the filter, newest first, with their approximate sizes. */
export async function selectRevisionSizes(
  reader: Database,
  accountId: string,
  filter: TaxonomyRevisionFilter,
) {
  return await matching(reader, accountId, filter)
    .select("revision.id")
    .select(bytesIn(["revision.body", "revision.metadata", "taxonomy.description"]))
    .orderBy("revision.created_at", "desc")
    .orderBy("revision.id", "desc")
    .limit(filter.limit)
    .offset(filter.offset)
    .execute();
}

/** An account's revisions by their ids, in no particular order. */
export async function selectRevisions(
  reader: Database,
  accountId: string,
  ids: readonly string[],
): Promise<TaxonomyRevision[]> {
  if (ids.length === 0) return [];
  const revisions = await reader
    .selectFrom("error_taxonomy_revisions as revision")
    .innerJoin("error_taxonomies as taxonomy", "taxonomy.id", "revision.taxonomy_id")
    .where("revision.account_id", "=", accountId)
    .where("revision.id", "in", ids)
    .select([
      "revision.id",
      "taxonomy.id as error_taxonomy_id",
      "taxonomy.name as error_taxonomy_name",
      "taxonomy.description as error_taxonomy_description",
      "revision.revision",
      "revision.body",
      "revision.metadata",
      "revision.account_id",
      "revision.created_at",
    ])
    .execute();
  return await withLabels(reader, revisions);
}

/** How many revisions of an account match the filter, regardless of its limit and offset. */
export async function countTaxonomyRevisions(
  database: Database,
  accountId: string,
  filter: TaxonomyRevisionFilter,
) {
  const { count } = await matching(database, accountId, filter)
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return count;
}

function matching(
  database: Database,
  accountId: string,
  { revisionId, taxonomyId, taxonomyName, label, isLatestOnly }: TaxonomyRevisionFilter,
) {
  let query = database
    .selectFrom("error_taxonomy_revisions as revision")
    .innerJoin("error_taxonomies as taxonomy", "taxonomy.id", "revision.taxonomy_id")
    .where("revision.account_id", "=", accountId);
  if (revisionId !== undefined) query = query.where("revision.id", "=", revisionId);
  if (taxonomyId !== undefined) query = query.where("revision.taxonomy_id", "=", taxonomyId);
  if (taxonomyName !== undefined) {
    query = query.where("taxonomy.account_id", "=", accountId).where("taxonomy.name", "=", taxonomyName);
  }
  if (label !== undefined) {
    const labelled = database
      .selectFrom("error_taxonomies")
      .innerJoin("error_taxonomy_labels as label", "label.taxonomy_id", "error_taxonomies.id")
      .select("label.revision_id")
      .where("error_taxonomies.account_id", "=", accountId)
      .where("label.label", "=", label);
    query = query.where("revision.id", "in", labelled);
  }
  return isLatestOnly ? query.whereRef("revision.revision", "=", "taxonomy.last_revision") : query;
}

async function withLabels(
  database: Database,
  revisions: Omit<TaxonomyRevision, "labels">[],
): Promise<TaxonomyRevision[]> {
  const ids = revisions.map(({ id }) => id);
  const labels = Map.groupBy(await selectLabels(database, ids), ({ revision_id }) => revision_id);
  return revisions.map((revision) => ({
    ...revision,
    labels: (labels.get(revision.id) ?? []).map(({ label }) => label),
  }));
}
