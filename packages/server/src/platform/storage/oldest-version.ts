import { z } from "zod";
import { migrations } from "./migrations/index.ts";
import type { Database } from "./schema/tables.ts";
import { changeSetting, readSetting } from "./settings-store.ts";

/** The setting in which it is stored, as JSON. */
export const oldestVersionSetting = "oldest_version";

/** The oldest version that may run on a schema, by the last migrations of both. Each new schema says so for itself. */
const OldestVersion = z.object({ schema: z.string(), oldest: z.string() });
type OldestVersion = z.output<typeof OldestVersion>;

/** Keeps what a newer schema says: a process of an earlier version may have looked at the schema before it was migrated, and be late. */
export async function saveOldestVersion(database: Database, own: OldestVersion): Promise<void> {
  const value = JSON.stringify(own);
  if ((await readSetting(database, oldestVersionSetting)) === value) return;
  await changeSetting(database, oldestVersionSetting, (said) => {
    const before = parse(said);
    return before !== undefined && before.schema > own.schema ? undefined : value;
  });
}

/** Whether this version may run on a schema with these migrations, some of which it does not know; `said` is the setting. */
export function mayRunOn(executed: readonly string[], said: string | undefined): boolean {
  const known = Object.keys(migrations);
  if (!known.every((name) => executed.includes(name))) return false;
  const version = parse(said);
  // Names of migrations begin with their numbers.
  return (
    version !== undefined &&
    version.schema === executed.toSorted().at(-1) &&
    version.oldest <= (known.at(-1) ?? "")
  );
}

/** Undefined if it was never set, or is damaged. */
function parse(said: string | undefined): OldestVersion | undefined {
  try {
    return OldestVersion.safeParse(JSON.parse(said ?? "")).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
