import type { Database } from "../../storage/tables.ts";
import { selectRevisions, type TaxonomyRevision } from "./error-taxonomies-store.ts";
import { noSuchRevision } from "./no-such-revision.ts";

export async function findRevision(
  database: Database,
  accountId: string,
  revisionId: string,
): Promise<TaxonomyRevision> {
  const [revision] = await selectRevisions(database, accountId, { revisionId, limit: 1, offset: 0 });
  if (revision === undefined) throw noSuchRevision();
  return revision;
}
