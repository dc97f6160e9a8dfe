import type { WorldConfig, WorldPins } from "@presage/contract";
import { type Micros, nowMicros } from "../platform/storage/columns.ts";
import {
  bytesIn,
  type Keyset,
  type KeysetPage,
  type NumberedPage,
  newestFirst,
  toListPart,
} from "../platform/storage/lists.ts";
import { prepareStatement, selectNames } from "../platform/storage/rows.ts";
import type { WorldRevisionsTable, WorldsTable } from "../platform/storage/schema/runs.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { isPostgres } from "../platform/storage/store.ts";
import type { WorldRevision } from "./world.ts";

/**
 * Stores a world, unless its account has one of this name. Returns the number of its first revision, which comes after those of deleted
 * worlds of the name.
 */
export async function insertWorld(
  transaction: Database,
  row: Omit<WorldsTable, "last_revision" | "archived_at" | "deleted_at">,
): Promise<number | undefined> {
  const inserted = await transaction
    .insertInto("worlds")
    .values({ ...row, last_revision: 1, archived_at: null, deleted_at: null })
    .onConflict((conflict) =>
      conflict
        .columns(["account_id", "name"])
        .doUpdateSet((of) => ({
          id: of.ref("excluded.id"),
          last_revision: of("worlds.last_revision", "+", 1),
          archived_at: null,
          deleted_at: null,
          created_by: of.ref("excluded.created_by"),
          created_at: of.ref("excluded.created_at"),
        }))
        .where("worlds.deleted_at", "is not", null),
    )
    .returning("last_revision")
    .executeTakeFirst();
  return inserted?.last_revision;
}

/** Stores a revision, which becomes the latest. */
export async function insertWorldRevision(transaction: Database, row: WorldRevisionsTable): Promise<void> {
  await transaction.insertInto("world_revisions").values(row).execute();
  await transaction
    .updateTable("worlds")
    .set({ last_revision: row.revision })
    .where("id", "=", row.world_id)
    .execute();
}

/** An account's world by its name, in its latest revision unless another is named. */
export async function selectWorld(
  database: Database,
  accountId: string,
  { name, revision }: { name: string; revision?: number | undefined },
): Promise<WorldRevision | undefined> {
  const [row] =
    revision === undefined
      ? await latestRevision(database, [accountId, name])
      : await someRevision(database, [accountId, name, revision]);
  return row && parseWorld(row);
}

const latestRevision = prepareStatement((database) =>
  withRevisions(database, "")
    .where("world.name", "=", "")
    .whereRef("revision.revision", "=", "world.last_revision"),
);

const someRevision = prepareStatement((database) =>
  withRevisions(database, "").where("world.name", "=", "").where("revision.revision", "=", 0),
);

/** An account's worlds in their latest revisions, newest first, without archived ones. */
export async function selectWorlds(
  reader: Database,
  accountId: string,
  page: KeysetPage,
): Promise<{ worlds: WorldRevision[]; next: Keyset | undefined }> {
  const { rows, next } = toListPart(await pageOf(reader, accountId, page).execute(), page.limit);
  return { worlds: rows.map(parseWorld), next };
}

const bytesOfWorld = bytesIn(["revision.config", "revision.pinned"]);

/** The sizes of a page of worlds. */
export async function selectWorldSizes(reader: Database, accountId: string, page: KeysetPage) {
  return await pageOf(reader, accountId, page).clearSelect().select(bytesOfWorld).execute();
}

/** The names of a page of worlds. */
export async function selectListedNames(
  reader: Database,
  accountId: string,
  page: KeysetPage,
): Promise<string[]> {
  const rows = await pageOf(reader, accountId, page).clearSelect().select("world.name").execute();
  return rows.slice(0, page.limit).map(({ name }) => name);
}

/** The query of a page of worlds, plus one world. */
function pageOf(reader: Database, accountId: string, page: KeysetPage) {
  const latest = withRevisions(reader, accountId)
    .whereRef("revision.revision", "=", "world.last_revision")
    .where("world.archived_at", "is", null);
  return newestFirst(latest, page, "world");
}

/** A page of a world's revisions, plus one revision. */
export async function selectWorldRevisions(
  reader: Database,
  accountId: string,
  page: NumberedPage & { name: string },
): Promise<WorldRevision[]> {
  return (await revisionsOf(reader, accountId, page).execute()).map(parseWorld);
}

/** The sizes of a page of a world's revisions. */
export async function selectRevisionSizes(
  reader: Database,
  accountId: string,
  page: NumberedPage & { name: string },
) {
  return await revisionsOf(reader, accountId, page).clearSelect().select(bytesOfWorld).execute();
}

function revisionsOf(
  reader: Database,
  accountId: string,
  { name, limit, below }: NumberedPage & { name: string },
) {
  return withRevisions(reader, accountId)
    .where("world.name", "=", name)
    .$if(below !== undefined, (query) => query.where("revision.revision", "<", below ?? 0))
    .orderBy("revision.revision", "desc")
    .limit(limit + 1);
}

/**
 * The names of who made a world's revisions, by their numbers: the first maker is stored; later ones are known only while the audit
 * log keeps their events.
 */
export async function selectMakers(
  reader: Database,
  accountId: string,
  id: string,
): Promise<ReadonlyMap<number, string>> {
  const first = await reader
    .selectFrom("worlds as world")
    .innerJoin("world_revisions as revision", "revision.world_id", "world.id")
    .select(["revision.revision", "world.created_by as userId"])
    .where("world.account_id", "=", accountId)
    .where("world.id", "=", id)
    .orderBy("revision.revision")
    .limit(1)
    .execute();
  const events = await reader
    .selectFrom("audit_events")
    .select(["actor_user_id as userId", "detail"])
    .where("account_id", "=", accountId)
    .where("object_id", "=", id)
    .where("action", "=", "world.revise")
    .execute();
  const later = events.flatMap(({ userId, detail }) => {
    const { revision, fields } = JSON.parse(detail) as { revision: number; fields: string[] };
    // Archiving adds no revision.
    return fields.length > 0 ? [{ revision, userId }] : [];
  });
  const made = [...first, ...later];
  const names = await selectNames(
    reader,
    accountId,
    made.map(({ userId }) => userId),
  );
  return new Map(
    made.flatMap(({ revision, userId }) => {
      const name = names.get(userId ?? "");
      return name === undefined ? [] : [[revision, name]];
    }),
  );
}

function withRevisions(database: Database, accountId: string) {
  return database
    .selectFrom("worlds as world")
    .innerJoin("world_revisions as revision", "revision.world_id", "world.id")
    .select([
      "world.id",
      "world.name",
      "world.archived_at",
      "world.created_at",
      "revision.revision",
      "revision.config",
      "revision.pinned",
      "revision.created_at as revised_at",
    ])
    .where("world.account_id", "=", accountId)
    .where("world.deleted_at", "is", null);
}

function parseWorld(
  row: Omit<WorldRevision, "config" | "pinned"> & { config: string; pinned: string },
): WorldRevision {
  return {
    ...row,
    // Both were checked before they were stored.
    config: JSON.parse(row.config) as WorldConfig,
    pinned: JSON.parse(row.pinned) as WorldPins,
  };
}

/** Which of these names are those of worlds, in any account. */
export async function selectWorldNames(database: Database, names: readonly string[]): Promise<string[]> {
  const named = database.selectFrom("worlds").select("name").distinct().where("name", "in", names);
  const rows = await named.where("deleted_at", "is", null).orderBy("name").execute();
  return rows.map(({ name }) => name);
}

/** Locks a world until the transaction ends. Undefined if the account has none of this name. */
export async function lockWorld(
  transaction: Database,
  accountId: string,
  name: string,
): Promise<Pick<WorldsTable, "id" | "last_revision"> | undefined> {
  return await transaction
    .selectFrom("worlds")
    .select(["id", "last_revision"])
    .where("account_id", "=", accountId)
    .where("name", "=", name)
    .where("deleted_at", "is", null)
    .$if(isPostgres(transaction), (query) => query.forUpdate())
    .executeTakeFirst();
}

/** Whether a world exists. If it does, it cannot be deleted until the transaction ends. */
export async function holdWorld(transaction: Database, id: string): Promise<boolean> {
  const held = await transaction
    .selectFrom("worlds")
    .select("id")
    .where("id", "=", id)
    .where("deleted_at", "is", null)
    .$if(isPostgres(transaction), (query) => query.forKeyShare())
    .executeTakeFirst();
  return held !== undefined;
}

export async function updateArchived(transaction: Database, id: string, archivedAt: Micros | null) {
  await transaction.updateTable("worlds").set({ archived_at: archivedAt }).where("id", "=", id).execute();
}

/** Deletes a world's revisions. Their numbers stay taken, because runs and predictions name them. */
export async function deleteWorldRows(transaction: Database, id: string): Promise<void> {
  await transaction.deleteFrom("world_revisions").where("world_id", "=", id).execute();
  await transaction.updateTable("worlds").set({ deleted_at: nowMicros() }).where("id", "=", id).execute();
}
