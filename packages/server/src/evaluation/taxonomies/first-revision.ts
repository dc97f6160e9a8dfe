import type { Database } from "../../storage/schema/tables.ts";
import { builtInRevisions } from "./built-in/built-in-revisions.ts";
import {
  type RevisionFilter,
  selectRevisionSizes,
  selectRevisions,
  type TaxonomyRevision,
} from "./error-taxonomies-store.ts";

/** The first revision that a list of a filter has, if it has one. */
export async function firstRevision(
  database: Database,
  accountId: string,
  filter: Omit<RevisionFilter, "limit" | "offset">,
): Promise<TaxonomyRevision | undefined> {
  const [own] = await selectRevisionSizes(database, accountId, { ...filter, limit: 1, offset: 0 });
  if (own === undefined) return builtInRevisions(accountId, filter)[0];
  return (await selectRevisions(database, accountId, [own.id]))[0];
}
