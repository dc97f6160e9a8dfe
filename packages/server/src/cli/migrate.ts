import type { Config } from "../config/config.ts";
import { openDatabase } from "../platform/storage/open.ts";

export async function migrateDatabase(config: Config): Promise<void> {
  const { database, migrated } = await openDatabase(config.databaseUrl, () => {});
  await database.destroy();
  const { applied, newer } = migrated;
  if (newer.length > 0)
    process.stdout.write(
      `The schema is of a newer version (${newer.join(", ")}), which lets this one run on it.\n`,
    );
  else
    process.stdout.write(
      applied.length === 0 ? "The schema is up to date.\n" : `Applied ${applied.join(", ")}.\n`,
    );
}
