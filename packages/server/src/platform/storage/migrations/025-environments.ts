import { type Kysely, type Migration, sql } from "kysely";
import { withoutRowid } from "./without-rowid.ts";

export const environments: Migration = {
  async up(db: Kysely<unknown>) {
    await createEnvironments(db);
    await createEpisodes(db);
  },
};

async function createEnvironments(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("environments")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("account_id", "text", (column) => column.notNull())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("last_revision", "bigint", (column) => column.notNull())
    .addColumn("tasks", "text", (column) => column.notNull())
    .addColumn("created_by", "text", (column) => column.notNull())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addUniqueConstraint("environments_by_name", ["account_id", "name"])
    .execute();
  await db.schema
    .createIndex("environments_of_an_account")
    .on("environments")
    .columns(["account_id", "created_at", "id"])
    .execute();
  await db.schema
    .createTable("environment_revisions")
    .addColumn("environment_id", "text", (column) => column.notNull())
    .addColumn("revision", "bigint", (column) => column.notNull())
    .addColumn("config", "text", (column) => column.notNull())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("environment_revisions_by_number", ["environment_id", "revision"])
    .execute();
  await db.schema
    .createTable("environment_tasks")
    .addColumn("environment_id", "text", (column) => column.notNull())
    .addColumn("split", "text", (column) => column.notNull())
    .addColumn("position", "bigint", (column) => column.notNull())
    .addColumn("task", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("environment_tasks_by_position", ["environment_id", "split", "position"])
    .execute();
}

async function createEpisodes(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("episodes")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("account_id", "text", (column) => column.notNull())
    .addColumn("environment_id", "text", (column) => column.notNull())
    .addColumn("environment", "text", (column) => column.notNull())
    .addColumn("revision", "bigint", (column) => column.notNull())
    .addColumn("split", "text", (column) => column.notNull())
    .addColumn("position", "bigint", (column) => column.notNull())
    .addColumn("task", "text", (column) => column.notNull())
    .addColumn("seed", "bigint")
    .addColumn("status", "text", (column) => column.notNull())
    .addColumn("outcome", "text")
    .addColumn("stop_reason", "text")
    .addColumn("steps", "bigint", (column) => column.notNull())
    .addColumn("reward", "double precision")
    .addColumn("failed_steps", "bigint", (column) => column.notNull())
    .addColumn("api_key_id", "text")
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("last_active_at", "bigint", (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex("episodes_of_an_account")
    .on("episodes")
    .columns(["account_id", "created_at", "id"])
    .execute();
  await db.schema
    .createIndex("episodes_of_an_environment")
    .on("episodes")
    .columns(["account_id", "environment_id", "created_at", "id"])
    .execute();
  await db.schema
    .createTable("episode_steps")
    .addColumn("episode_id", "text", (column) => column.notNull())
    .addColumn("step", "bigint", (column) => column.notNull())
    .addColumn("action", "text", (column) => column.notNull())
    .addColumn("reward", "double precision")
    .addColumn("reward_error", "text")
    .addColumn("terminated", "integer", (column) => column.notNull())
    .addColumn("truncated", "integer", (column) => column.notNull())
    .addColumn("request_key", "text")
    .addPrimaryKeyConstraint("episode_steps_by_number", ["episode_id", "step"])
    .modifyEnd(withoutRowid(db))
    .execute();
  await sql`create unique index episode_steps_by_key on episode_steps (episode_id, request_key)
    where request_key is not null`.execute(db);
}
