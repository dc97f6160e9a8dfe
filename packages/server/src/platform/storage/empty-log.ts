import { statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import type { OpenedDatabase } from "./open-database.ts";
import { busyTimeoutMs } from "./open-sqlite.ts";
import type { Database } from "./schema/tables.ts";

/** For how long an attempt waits for reads of the log, and writes wait for the attempt. */
const patienceMs = 50;
const pauseMs = 1_000;

/** Copies SQLite's log, which has pages from before a deletion, into the file, and empties it once nobody reads older ones. */
export async function emptyLog(
  { reader, sqlitePath }: Pick<OpenedDatabase, "reader" | "sqlitePath">,
  signal: AbortSignal,
): Promise<void> {
  const size = () => statSync(`${sqlitePath}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (sqlitePath === undefined || size() === 0) return;
  // A thread that reads may do it, and blocks no one who writes meanwhile.
  const connected = reader({ accountId: "", signal }).connection();
  while (!(signal.aborted || (await connected.execute(tryToEmpty))))
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
}

type Checkpoint = Record<"busy" | "log" | "checkpointed", number>;

/** Returns false if others read or write it. */
async function tryToEmpty(connection: Database): Promise<boolean> {
  // First without keeping others from writing. While older pages are read, more would be in vain.
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
