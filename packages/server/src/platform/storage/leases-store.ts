import { sql } from "kysely";
import { databaseNow } from "./database-clock.ts";
import { type Micros, microsPerMs } from "./micros.ts";
import type { Database } from "./schema/tables.ts";

/** Another process may have renewed a lease since the clock was read. */
const graceMs = 5_000;

/** When a lease of this length ends at the latest. One that ends later was taken before the clock was set back, and holds nothing. */
export function latestEnd(now: Micros, leaseMs: number): Micros {
  return now + (leaseMs + graceMs) * microsPerMs;
}

/** Takes a lease, or keeps it for longer. Returns false while another process has it. */
export async function takeLease(
  database: Database,
  { name, holder, forMs }: { name: string; holder: string; forMs: number },
): Promise<boolean> {
  const now = databaseNow(database);
  const until = sql<number>`${now} + ${sql.lit(forMs * microsPerMs)}`;
  const latest = sql<number>`${now} + ${sql.lit(latestEnd(0, forMs))}`;
  const { rows } = await sql`insert into leases (name, holder, until) values (${name}, ${holder}, ${until})
    on conflict (name) do update set holder = excluded.holder, until = excluded.until
    where leases.holder = excluded.holder or leases.until < ${now} or leases.until > ${latest} returning name`.execute(
    database,
  );
  return rows.length > 0;
}

/** Lets another process have it. */
export async function endLease(
  database: Database,
  { name, holder }: { name: string; holder: string },
): Promise<void> {
  await database.deleteFrom("leases").where("name", "=", name).where("holder", "=", holder).execute();
}
