import type { Database } from "../../storage/tables.ts";
import type { TaxonomyRevision } from "./error-taxonomies-store.ts";
import { listRevisions } from "./list-revisions.ts";
import { noSuchRevision } from "./no-such-revision.ts";

export async function findRevision(
  database: Database,
  accountId: string,
  revisionId: string,
): Promise<TaxonomyRevision> {
  const [revision] = await listRevisions(database, accountId, { revisionId, limit: 1, offset: 0 });
  if (revision === undefined) throw noSuchRevision();
  return revision;
}
