// Opens the database as a server does, and is killed at the end of one migration, before anything is committed.
import { migrations } from "../../../src/platform/storage/migrations/index.ts";
import { openDatabase } from "../../../src/platform/storage/open.ts";

const [databaseUrl = "", name = ""] = process.argv.slice(2);
const migration = migrations[name];
if (migration === undefined) throw new Error(`There is no migration ${name}.`);
migrations[name] = {
  async up(database) {
    await migration.up(database);
    process.kill(process.pid, "SIGKILL");
    await new Promise(() => {});
  },
};
await openDatabase(databaseUrl, () => {});
