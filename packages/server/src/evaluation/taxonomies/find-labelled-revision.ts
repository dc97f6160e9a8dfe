import type { Database } from "../../storage/schema/tables.ts";
import type { TaxonomyRevision } from "./error-taxonomies-store.ts";
import { firstRevision } from "./first-revision.ts";

/** The revision of a named taxonomy that bears a label. */
export async function findLabelledRevision(
  database: Database,
  accountId: string,
  taxonomyName: string,
  label: string,
): Promise<TaxonomyRevision | undefined> {
  return await firstRevision(database, accountId, { taxonomyName, label });
}
