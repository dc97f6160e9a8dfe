import type { Database as BunDatabase, SQLQueryBindings } from "bun:sqlite";
import { statSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  SelectQueryNode,
  sql,
} from "kysely";
import { ServiceError } from "../../errors.ts";
import type { Database, Tables } from "../schema/tables.ts";
import type { OpenedDatabase } from "../store.ts";
import { isDatabaseLocked } from "../store-error.ts";
import { sqliteDialect } from "./sqlite-driver.ts";
import {
  busyTimeoutMs,
  createWriteTurn,
  openSqlite,
  openSqliteReader,
  type WriterData,
  type WriteTurn,
} from "./sqlite-file.ts";

export const inMemoryPath = ":memory:";
const sqliteScheme = "sqlite:";

export function isSqlite(url: string): boolean {
  return url.startsWith(sqliteScheme);
}

/** The file of a database at an SQLite URL. */
export function sqlitePath(url: string): string {
  return url.slice(sqliteScheme.length);
}

/** An in-memory database: every process has its own, which is lost when it ends. */
export const inMemoryUrl = sqliteScheme + inMemoryPath;

export function isInMemory(url: string): boolean {
  return url === inMemoryUrl;
}

/** A commit that makes the log longer than 1,000 pages copies it into the file before the next write may begin. */
const mostPages = 300;

/**
 * Copies SQLite's log into the file if it is long, between transactions: others write meanwhile. A thread that changes many pages calls
 * this after each transaction, so that no commit has to.
 */
export async function copyLog(database: Database): Promise<void> {
  const { rows } = await sql<{ log: number; checkpointed: number }>`pragma wal_checkpoint(noop)`.execute(
    database,
  );
  const [pages] = rows;
  if (pages === undefined || pages.log - pages.checkpointed < mostPages) return;
  await sql`pragma wal_checkpoint(passive)`.execute(database);
}

/** The database for a thread that only writes. Its transactions take turns with those of the other threads. */
export function openSqliteWriter({ path, turn }: WriterData): Database {
  return openSqliteDatabase(path, undefined, createWriteTurn(turn));
}

/**
 * Like `openSqliteWriter`, for a thread that no one waits for, and that repeats its work if a power failure undoes it. It gives way to the
 * others, and during its turn neither waits for the disk nor copies the log into the file: see `copyLog`.
 */
export function openSqliteBackgroundWriter({ path, turn }: WriterData): Database {
  return openSqliteDatabase(path, undefined, createWriteTurn(turn, { givesWay: true }));
}

/** The SQLite database at `path`, without migrating it. `onSuccess` is called after each successful statement. */
export function openSqliteDatabase(
  path: string,
  onSuccess: () => void = () => {},
  turn?: WriteTurn,
): Database {
  const dialect = sqliteDialect(openSqlite(path), onSuccess, turn);
  // An in-memory database belongs to its one connection.
  return new Kysely<Tables>({
    dialect: path === inMemoryPath ? dialect : readBesideWrites(dialect, path, onSuccess),
  });
}

/**
 * Adds a second connection for reads outside transactions. A write that waits for the file's lock occupies the first one, while
 * SQLite itself lets reads pass.
 */
function readBesideWrites(dialect: Dialect, path: string, onSuccess: () => void): Dialect {
  return { ...dialect, createDriver: () => besideDriver(dialect.createDriver(), path, onSuccess) };
}

function besideDriver(driver: Driver, path: string, onSuccess: () => void): Driver {
  const writers = new WeakMap<
    DatabaseConnection,
    { acquire(): Promise<DatabaseConnection>; acquired(): Promise<DatabaseConnection> | undefined }
  >();
  let reader: BunDatabase | undefined;

  function read(sql: string, parameters: readonly unknown[]): unknown[] {
    reader ??= openImpatientReader(path);
    const rows = reader.query(sql).all(...(parameters as SQLQueryBindings[]));
    onSuccess();
    return rows;
  }

  /** Acquires the writing connection with the first write. */
  function connect(): DatabaseConnection {
    let writer: Promise<DatabaseConnection> | undefined;

    function acquireWriter(): Promise<DatabaseConnection> {
      writer ??= driver.acquireConnection();
      return writer;
    }

    const connection: DatabaseConnection = {
      async executeQuery<Row>(query: CompiledQuery) {
        if (writer === undefined && SelectQueryNode.is(query.query)) {
          try {
            return { rows: read(query.sql, query.parameters) as Row[] };
          } catch (error) {
            if (!isDatabaseLocked(error)) throw error;
          }
        }
        return await (await acquireWriter()).executeQuery<Row>(query);
      },
      async *streamQuery(query, chunkSize) {
        yield* (await acquireWriter()).streamQuery(query, chunkSize);
      },
    };
    writers.set(connection, { acquire: acquireWriter, acquired: () => writer });
    return connection;
  }

  return {
    init: () => driver.init(),
    acquireConnection: async () => connect(),
    async releaseConnection(connection) {
      const writer = writers.get(connection)?.acquired();
      if (writer !== undefined) await driver.releaseConnection(await writer);
    },
    async beginTransaction(connection, settings) {
      // Acquires the connection first: waiting for a turn among threads blocks this thread, and with it any holder of the connection.
      await writers.get(connection)?.acquire();
      await driver.beginTransaction(connection, settings);
    },
    commitTransaction: (connection) => driver.commitTransaction(connection),
    rollbackTransaction: (connection) => driver.rollbackTransaction(connection),
    async destroy() {
      reader?.close();
      await driver.destroy();
    },
  };
}

/** Locks that block even reads, such as another process recovering the file, are waited for on the writing connection. */
function openImpatientReader(path: string): BunDatabase {
  const reader = openSqliteReader(path);
  reader.run("PRAGMA busy_timeout = 0");
  return reader;
}

/** How much of a disk uploads and runs leave free, so that there is room for small writes. */
export interface DiskFloor {
  folder: string;
  minFreeBytes: number;
}

/** The share of the floor that the disk itself must have free: SQLite writes its log before it fills unused pages. */
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

/** Says how little a disk has free; undefined if it is enough, or if the database's file has enough unused space. */
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

/** The space that deleted rows left in the file, which never shrinks. Uncounted, one refused upload would block all others for good. */
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

/** For how long an attempt waits for reads of the log, and writes wait for the attempt. */
const patienceMs = 50;
const pauseMs = 1_000;

/** Copies SQLite's log, which has pages from before a deletion, into the file, and empties it once nobody reads older pages. */
export async function emptyLog(
  { reader, sqlitePath }: Pick<OpenedDatabase, "reader" | "sqlitePath">,
  signal: AbortSignal,
): Promise<void> {
  const size = () => statSync(`${sqlitePath}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (sqlitePath === undefined || size() === 0) return;
  // A reading thread may do this, and blocks no one who writes meanwhile.
  const connected = reader({ accountId: "", signal }).connection();
  while (!(signal.aborted || (await connected.execute(tryToEmpty))))
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
}

type Checkpoint = Record<"busy" | "log" | "checkpointed", number>;

/** Returns false if others read or write the database. */
async function tryToEmpty(connection: Database): Promise<boolean> {
  // First without keeping others from writing. While older pages are still read, doing more would be in vain.
  const { rows: copied } = await sql<Checkpoint>`pragma wal_checkpoint(passive)`.execute(connection);
  if (copied[0]?.log !== copied[0]?.checkpointed) return false;
  await sql`pragma busy_timeout = ${sql.lit(patienceMs)}`.execute(connection);
  try {
    const { rows } = await sql<Checkpoint>`pragma wal_checkpoint(truncate)`.execute(connection);
    return rows[0]?.busy === 0;
  } finally {
    await sql`pragma busy_timeout = ${sql.lit(busyTimeoutMs)}`.execute(connection);
  }
}
