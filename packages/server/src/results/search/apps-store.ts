import { sql } from "kysely";
import { isPostgres } from "../../platform/storage/is-postgres.ts";
import type { Requester } from "../../platform/storage/reader.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { EvaluationServices } from "../evaluation-services.ts";

interface AppPage {
  limit: number;
  /** Only names that follow this one. */
  after: string | undefined;
  /** How many names to skip. */
  offset: number;
}

/** The names of apps that an account has results of, in the order of their characters on both databases. `next` is the last name if more follow. */
export async function listApps(
  { store }: Pick<EvaluationServices, "store">,
  requester: Requester,
  { limit, after, offset }: AppPage,
): Promise<{ names: string[]; next: string | undefined }> {
  const names = await selectApps(store.briefReader(requester), requester.accountId, {
    limit: limit + 1,
    after,
    offset,
  });
  return { names: names.slice(0, limit), next: names.length > limit ? names[limit - 1] : undefined };
}

export async function selectApps(
  reader: Database,
  accountId: string,
  { limit, after, offset }: AppPage,
): Promise<string[]> {
  // PostgreSQL would order and compare by the database's locale.
  const app = isPostgres(reader) ? sql<string>`app collate "C"` : sql<string>`app`;
  let query = reader
    .selectFrom("evaluation_series")
    .select(app.as("app"))
    .distinct()
    .where("account_id", "=", accountId)
    // Every result is counted in such a series too; those of single runs may be many.
    .where("spans_runs", "=", 1);
  if (after !== undefined) query = query.where(app, ">", after);
  const rows = await query.orderBy(app).limit(limit).offset(offset).execute();
  return rows.map((row) => row.app);
}
