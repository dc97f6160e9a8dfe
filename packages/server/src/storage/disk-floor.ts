import { statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { ServiceError } from "../errors.ts";
import { isInMemory, isSqlite, sqlitePath } from "./opening/open-database.ts";

/** How much of a disk uploads and runs leave free, so that there is room for small writes. */
export interface DiskFloor {
  folder: string;
  minFreeBytes: number;
}

/** The floor of the disk that an SQLite database is on; undefined if the data is elsewhere. */
export function diskFloorOf(config: {
  databaseUrl: string;
  minFreeDiskBytes: number;
}): DiskFloor | undefined {
  const { databaseUrl: url, minFreeDiskBytes: minFreeBytes } = config;
  if (!isSqlite(url) || isInMemory(url)) return undefined;
  return { folder: dirname(resolve(sqlitePath(url))), minFreeBytes };
}

/** Says how little a disk has free; undefined if it is enough. */
export async function describeShortage(floor: DiskFloor | undefined): Promise<string | undefined> {
  if (floor === undefined) return undefined;
  const { bavail, bsize } = await statfs(floor.folder);
  const freeBytes = bavail * bsize;
  if (freeBytes >= floor.minFreeBytes) return undefined;
  return `The database's disk has ${freeBytes} bytes free, and uploads and runs leave ${floor.minFreeBytes} (PRESAGE_MIN_FREE_DISK_BYTES).`;
}

/** @throws ServiceError `disk_full` if there is less room than the floor. */
export async function refuseShortage(floor: DiskFloor | undefined): Promise<void> {
  const shortage = await describeShortage(floor);
  if (shortage !== undefined) throw new ServiceError("disk_full", shortage);
}
