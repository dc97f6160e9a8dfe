// Opens the database as a server does, and is killed at the end of one migration, before anything is committed.
import { migrations } from "../../../src/platform/storage/migrations/index.ts";
import { openDatabase } from "../../../src/platform/storage/open.ts";

const [databaseUrl = "", name = ""] = process.argv.slice(2);
/** A migration of a later version, if this one has none of that name. */
const migration = migrations[name] ?? {
  up: (database) => database.schema.createTable("of_the_future").addColumn("id", "text").execute(),
};
migrations[name] = {
  async up(database) {
    await migration.up(database);
    process.kill(process.pid, "SIGKILL");
    await new Promise(() => {});
  },
};
await openDatabase(databaseUrl, () => {});
