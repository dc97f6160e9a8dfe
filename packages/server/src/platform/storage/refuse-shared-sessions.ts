import { sql } from "kysely";
import type { Database } from "./schema/tables.ts";

/**
 * Throws if a pooler gives a connection another session for each transaction: a session's settings would then apply to other
 * connections, such as the long reads' read-only mode to writes. Needs two connections.
 */
export async function refuseSharedSessions(database: Database): Promise<void> {
  await database.connection().execute(async (one) => {
    const session = await readSession(one);
    // While a transaction holds a session, the pooler cannot give that to another connection.
    const isShared = await database
      .transaction()
      .execute(
        async (other) => (await readSession(other)) === session || (await readSession(one)) !== session,
      );
    if (isShared)
      throw new Error(
        "a pooler in transaction mode is in between; give it session mode (PgBouncer: pool_mode = session), or connect to PostgreSQL itself",
      );
  });
}

async function readSession(database: Database): Promise<number | undefined> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(database);
  return rows[0]?.pid;
}
