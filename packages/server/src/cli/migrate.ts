import type { Config } from "../config.ts";
import { openDatabase } from "../storage/open-database.ts";

export async function migrateDatabase(config: Config): Promise<void> {
  const { database, migrated } = await openDatabase(config.databaseUrl, () => {});
  await database.destroy();
  process.stdout.write(
    migrated.length === 0 ? "The schema is up to date.\n" : `Applied ${migrated.join(", ")}.\n`,
  );
}
