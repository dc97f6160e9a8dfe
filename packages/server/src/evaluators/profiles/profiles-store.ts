import { sql } from "kysely";
import type { Micros } from "../../platform/storage/columns.ts";
import { bytesIn } from "../../platform/storage/lists.ts";
import type {
  Database,
  EvaluatorProfileRevisionsTable,
  EvaluatorProfilesTable,
} from "../../platform/storage/schema/tables.ts";

export interface ProfileRevision {
  public_id: string;
  evaluator_family: string;
  name: string;
  revision: number;
  /** JSON. */
  config: string;
  description: string | null;
  /** Whether it is built in and cannot be changed. */
  is_managed: boolean;
  created_at: Micros;
  archived_at: Micros | null;
}

/** All given filters must match. */
export interface ProfileRevisionFilter {
  publicId?: string | undefined;
  family?: string | undefined;
  name?: string | undefined;
  revision?: number | undefined;
  isLastOnly?: boolean;
  isArchivedToo?: boolean;
}

export interface ProfilePage {
  limit: number;
  offset: number;
}

/** Stores a profile unless the account has one of that name in the family; returns whether it did. */
export async function insertProfile(database: Database, row: EvaluatorProfilesTable) {
  const inserted = await database
    .insertInto("evaluator_profiles")
    .values(row)
    .onConflict((conflict) => conflict.columns(["account_id", "evaluator_family", "name"]).doNothing())
    .returning("public_id")
    .executeTakeFirst();
  return inserted !== undefined;
}

export async function selectProfile(
  database: Database,
  accountId: string,
  publicId: string,
): Promise<EvaluatorProfilesTable | undefined> {
  return await database
    .selectFrom("evaluator_profiles")
    .selectAll()
    .where("public_id", "=", publicId)
    .where("account_id", "=", accountId)
    .executeTakeFirst();
}

/** Takes the next revision number of a profile that is not archived, and locks the profile until the transaction ends. */
export async function takeNextProfileRevision(database: Database, accountId: string, publicId: string) {
  return await database
    .updateTable("evaluator_profiles")
    .set((row) => ({ last_revision: row("last_revision", "+", 1) }))
    .where("public_id", "=", publicId)
    .where("account_id", "=", accountId)
    .where("archived_at", "is", null)
    .returning(["evaluator_family", "name", "last_revision"])
    .executeTakeFirst();
}

export async function insertProfileRevision(database: Database, row: EvaluatorProfileRevisionsTable) {
  await database.insertInto("evaluator_profile_revisions").values(row).execute();
}

export async function selectDescription(database: Database, publicId: string, revision: number) {
  const row = await database
    .selectFrom("evaluator_profile_revisions")
    .select("description")
    .where("public_id", "=", publicId)
    .where("revision", "=", revision)
    .executeTakeFirstOrThrow();
  return row.description;
}

/** Returns whether the profile was not archived yet. */
export async function markArchived(database: Database, accountId: string, publicId: string, now: Micros) {
  const { numUpdatedRows } = await database
    .updateTable("evaluator_profiles")
    .set({ archived_at: now })
    .where("public_id", "=", publicId)
    .where("account_id", "=", accountId)
    .where("archived_at", "is", null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** What identifies a revision. */
export type RevisionKey = Pick<ProfileRevision, "public_id" | "revision">;

/** An account's revisions that match the filter, newest first, with their approximate sizes; all of them if no page is given. */
export async function selectRevisionSizes(
  reader: Database,
  accountId: string,
  filter: ProfileRevisionFilter,
  page?: ProfilePage,
) {
  const query = filtered(reader, accountId, filter)
    .select(["profile.public_id", "revision.revision"])
    .select(bytesIn(["revision.config", "revision.description"]))
    .orderBy("revision.created_at", "desc")
    .orderBy("profile.public_id", "desc")
    .orderBy("revision.revision", "desc");
  return await (page === undefined ? query : query.limit(page.limit).offset(page.offset)).execute();
}

/** An account's revisions of these keys, in no particular order. */
export async function selectRevisionsByKeys(
  reader: Database,
  accountId: string,
  keys: readonly RevisionKey[],
): Promise<ProfileRevision[]> {
  if (keys.length === 0) return [];
  return await selectWhole(
    filtered(reader, accountId, { isArchivedToo: true }).where((row) =>
      row.or(
        keys.map(({ public_id, revision }) =>
          row.and([row("revision.public_id", "=", public_id), row("revision.revision", "=", revision)]),
        ),
      ),
    ),
  );
}

/** A revision of an account's profile, the last if none is named, unless there is none or the profile is archived. */
export async function selectUsableRevision(
  database: Database,
  accountId: string,
  wanted: { family: string; name: string; revision?: number },
): Promise<ProfileRevision | undefined> {
  const isLastOnly = wanted.revision === undefined;
  const [found] = await selectWhole(filtered(database, accountId, { ...wanted, isLastOnly }));
  return found;
}

async function selectWhole(query: ReturnType<typeof filtered>): Promise<ProfileRevision[]> {
  const rows = await query
    .select([
      "profile.public_id",
      "profile.evaluator_family",
      "profile.name",
      "revision.revision",
      "revision.config",
      "revision.description",
      "revision.created_at",
      "profile.archived_at",
    ])
    .execute();
  return rows.map((row) => ({ ...row, is_managed: false }));
}

/** How many of an account's revisions match the filter. */
export async function countProfileRevisions(
  database: Database,
  accountId: string,
  filter: ProfileRevisionFilter,
) {
  const { count } = await filtered(database, accountId, filter)
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return count;
}

function filtered(
  database: Database,
  accountId: string,
  { publicId, family, name, revision, isLastOnly, isArchivedToo }: ProfileRevisionFilter,
) {
  let query = database
    .selectFrom("evaluator_profiles as profile")
    .innerJoin("evaluator_profile_revisions as revision", "revision.public_id", "profile.public_id")
    .where("profile.account_id", "=", accountId);
  if (publicId !== undefined) query = query.where("profile.public_id", "=", publicId);
  if (family !== undefined) query = query.where("profile.evaluator_family", "=", family);
  if (name !== undefined) query = query.where("profile.name", "=", name);
  // PostgreSQL would read it as an integer of the column's size, and fail if it is too large for that.
  if (revision !== undefined)
    query = query.where("revision.revision", "=", sql<number>`cast(${revision} as bigint)`);
  if (isLastOnly) query = query.whereRef("revision.revision", "=", "profile.last_revision");
  if (!isArchivedToo) query = query.where("profile.archived_at", "is", null);
  return query;
}
