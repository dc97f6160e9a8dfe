import { z } from "zod";
import type { Database } from "../schema/tables.ts";
import { changeSetting, readSetting } from "../settings-store.ts";

const settingName = "oldest_version";

/** The oldest version that may run on a schema, by the last migrations of both. Each new schema says so for itself. */
const OldestVersion = z.object({ schema: z.string(), oldest: z.string() });
type OldestVersion = z.output<typeof OldestVersion>;

/** Undefined: nobody has said it, or it is damaged. */
export async function readOldestVersion(database: Database): Promise<OldestVersion | undefined> {
  return parse(await readSetting(database, settingName));
}

/** Keeps what a newer schema says: a process of an earlier version may have looked at the schema before it was migrated, and be late. */
export async function saveOldestVersion(database: Database, own: OldestVersion): Promise<void> {
  const value = JSON.stringify(own);
  if ((await readSetting(database, settingName)) === value) return;
  await changeSetting(database, settingName, (said) => {
    const before = parse(said);
    // Names of migrations begin with their numbers.
    return before !== undefined && before.schema > own.schema ? undefined : value;
  });
}

function parse(said: string | undefined): OldestVersion | undefined {
  try {
    return OldestVersion.safeParse(JSON.parse(said ?? "")).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
