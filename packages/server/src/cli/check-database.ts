import { accessSync, constants, existsSync, statfsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Config } from "../config/config.ts";
import { type InspectedDatabase, inspectDatabase } from "../platform/storage/open.ts";
import { isInMemory, isSqlite, sqlitePath } from "../platform/storage/sqlite.ts";
import { countOf } from "../platform/words.ts";
import { describeClock } from "./describe-clock.ts";
import type { Finding } from "./finding.ts";
import { megabytes } from "./sqlite-file.ts";

/** The database, its clock, and the disk that an SQLite file is on. */
export async function checkDatabase({ databaseUrl: url, minFreeDiskBytes }: Config): Promise<Finding[]> {
  const disk = checkDisk(url, minFreeDiskBytes);
  try {
    const inspected = await inspectDatabase(url);
    return [describe(inspected, url), describeClock(inspected.aheadMs, inspected.seenClock), disk];
  } catch (error) {
    // PostgreSQL's own errors name the user, and no password.
    const reason = error instanceof Error && error.message !== "" ? error.message : "no response";
    const advice = isSqlite(url)
      ? "Check the file and its folder, whose owner must be the server's user"
      : "Check PRESAGE_DATABASE_URL, that PostgreSQL runs, and the user's rights";
    const clock: Finding = { check: "clock", state: "off", text: "the database was not read" };
    return [{ check: "database", state: "bad", text: `${reason}. ${advice}` }, clock, disk];
  }
}

function describe(inspected: InspectedDatabase, url: string): Finding {
  const { engine, schema, pending, isTooOld, unknown, mayRun } = inspected;
  const good = (text: string): Finding => ({ check: "database", state: "good", text: `${engine}: ${text}` });
  if (isTooOld) {
    const text = `${engine}: its schema is from before 0.1.0 (${schema}). Start Presage 0.1.0 once, then this version`;
    return { check: "database", state: "bad", text };
  }
  const newer = `its schema is newer than this Presage (${unknown.join(", ")})`;
  if (unknown.length > 0 && mayRun)
    return good(`writable, ${newer} and lets it run: what only the newer version knows is not shown`);
  if (unknown.length > 0) {
    const text = `${engine}: ${newer}. Run the version that made it, or a later one`;
    return { check: "database", state: "bad", text };
  }
  if (isInMemory(url)) return good("in memory; everything is lost when the server stops");
  if (schema === undefined) {
    const problem = isSqlite(url) ? unwritable(folderOf(url)) : undefined;
    return problem === undefined
      ? good("empty; the server's first start creates the schema")
      : { check: "database", state: "bad", text: problem };
  }
  const waiting =
    pending === 0 ? "up to date" : `the server's next start applies ${countOf(pending, "newer migration")}`;
  return good(`writable, schema ${schema}, ${waiting}`);
}

function checkDisk(url: string, minFreeBytes: number): Finding {
  const check = "disk";
  if (!isSqlite(url) || isInMemory(url))
    return { check, state: "off", text: "the data is not on this machine's disk" };
  const folder = folderOf(url);
  const { bavail, bsize } = statfsSync(folder);
  const text = `${megabytes(bavail * bsize)} free at ${folder}`;
  if (bavail * bsize >= minFreeBytes) return { check, state: "good", text };
  const advice = `Until ${megabytes(minFreeBytes)} are free (PRESAGE_MIN_FREE_DISK_BYTES), uploads and runs only have the room that deleted rows left in the file`;
  return { check, state: "bad", text: `${text}. ${advice}` };
}

/** The folder of the file, or the nearest one above that exists. */
function folderOf(url: string): string {
  let folder = dirname(resolve(isInMemory(url) ? "." : sqlitePath(url)));
  while (!existsSync(folder)) folder = dirname(folder);
  return folder;
}

function unwritable(folder: string): string | undefined {
  try {
    accessSync(folder, constants.W_OK);
  } catch {
    return `${folder} cannot be written. Make this user its owner, or set PRESAGE_DATABASE_URL`;
  }
}
