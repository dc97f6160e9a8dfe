import type { Database } from "../../storage/schema/tables.ts";
import type { TaxonomyRevision } from "./error-taxonomies-store.ts";
import { firstRevision } from "./first-revision.ts";
import { noSuchRevision } from "./no-such-revision.ts";

export async function findRevision(
  database: Database,
  accountId: string,
  revisionId: string,
): Promise<TaxonomyRevision> {
  const revision = await firstRevision(database, accountId, { revisionId });
  if (revision === undefined) throw noSuchRevision();
  return revision;
}
