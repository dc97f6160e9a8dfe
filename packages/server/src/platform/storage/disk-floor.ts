import { statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { sql } from "kysely";
import { ServiceError } from "../errors.ts";
import { isInMemory, isSqlite, sqlitePath } from "./open-database.ts";
import type { Database } from "./schema/tables.ts";

/** How much of a disk uploads and runs leave free, so that there is room for small writes. */
export interface DiskFloor {
  folder: string;
  minFreeBytes: number;
}

/** Of the floor, what the disk itself must have free: SQLite writes its log before it fills unused pages. */
const shareOfDisk = 1 / 2;

/** The floor of the disk that an SQLite database is on; undefined if the data is elsewhere. */
export function diskFloorOf(config: {
  databaseUrl: string;
  minFreeDiskBytes: number;
}): DiskFloor | undefined {
  const { databaseUrl: url, minFreeDiskBytes: minFreeBytes } = config;
  if (!isSqlite(url) || isInMemory(url)) return undefined;
  return { folder: dirname(resolve(sqlitePath(url))), minFreeBytes };
}

/** Says how little a disk has free; undefined if it is enough, or if the database's file has as much to fill. */
export async function describeShortage(
  database: Database,
  floor: DiskFloor | undefined,
): Promise<string | undefined> {
  if (floor === undefined) return undefined;
  const { bavail, bsize } = await statfs(floor.folder);
  const freeBytes = bavail * bsize;
  if (freeBytes >= floor.minFreeBytes) return undefined;
  const isEnough =
    freeBytes >= floor.minFreeBytes * shareOfDisk &&
    freeBytes + (await readUnusedBytes(database)) >= floor.minFreeBytes;
  if (isEnough) return undefined;
  return `The database's disk has ${freeBytes} bytes free, and uploads and runs leave ${floor.minFreeBytes} (PRESAGE_MIN_FREE_DISK_BYTES).`;
}

/** What deleted rows have left in the file, which never shrinks. Otherwise one refused upload would stop all others for good. */
async function readUnusedBytes(database: Database): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select freelist_count * page_size as bytes from pragma_freelist_count, pragma_page_size
  `.execute(database);
  return rows[0]?.bytes ?? 0;
}

/** @throws ServiceError `disk_full` if there is less room than the floor. */
export async function refuseShortage(database: Database, floor: DiskFloor | undefined): Promise<void> {
  const shortage = await describeShortage(database, floor);
  if (shortage !== undefined) throw new ServiceError("disk_full", shortage);
}
