import { ServiceError } from "../../platform/errors.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { builtInRevisions } from "./built-in-revisions.ts";
import {
  selectRevisionSizes,
  selectRevisions,
  type TaxonomyRevision,
  type TaxonomyRevisionFilter,
} from "./error-taxonomies-store.ts";

export async function findRevision(
  database: Database,
  accountId: string,
  revisionId: string,
): Promise<TaxonomyRevision> {
  const revision = await findFirst(database, accountId, { revisionId });
  if (revision === undefined) throw noSuchRevision();
  return revision;
}

/** The revision of a named taxonomy that has a label. */
export async function findLabelledRevision(
  database: Database,
  accountId: string,
  taxonomyName: string,
  label: string,
): Promise<TaxonomyRevision | undefined> {
  return await findFirst(database, accountId, { taxonomyName, label });
}

export function noSuchRevision(): ServiceError {
  return new ServiceError("not_found", "There is no such revision of an error taxonomy.");
}

async function findFirst(
  database: Database,
  accountId: string,
  filter: Omit<TaxonomyRevisionFilter, "limit" | "offset">,
): Promise<TaxonomyRevision | undefined> {
  const [own] = await selectRevisionSizes(database, accountId, { ...filter, limit: 1, offset: 0 });
  if (own === undefined) return builtInRevisions(accountId, filter)[0];
  return (await selectRevisions(database, accountId, [own.id]))[0];
}
