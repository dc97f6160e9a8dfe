import type { Database } from "../../storage/tables.ts";
import type { TaxonomyRevision } from "./error-taxonomies-store.ts";
import { listRevisions } from "./list-revisions.ts";

/** The revision of a named taxonomy that bears a label. */
export async function findLabelledRevision(
  database: Database,
  accountId: string,
  taxonomyName: string,
  label: string,
): Promise<TaxonomyRevision | undefined> {
  const [revision] = await listRevisions(database, accountId, { taxonomyName, label, limit: 1, offset: 0 });
  return revision;
}
