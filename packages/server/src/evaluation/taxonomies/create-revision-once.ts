import { doOnce } from "../../storage/idempotency/do-once.ts";
import type { Once } from "../../storage/idempotency/once.ts";
import type { Database } from "../../storage/schema/tables.ts";
import { createRevision, type NewRevision } from "./create-revision.ts";
import type { TaxonomyRevision } from "./error-taxonomies-store.ts";
import { findRevision } from "./find-revision.ts";

/** Makes a revision, or finds the one that the same request made before, as it was then. */
export async function createRevisionOnce(
  database: Database,
  newRevision: NewRevision,
  once: Once | undefined,
): Promise<TaxonomyRevision> {
  return await doOnce(database, once, {
    work: (transaction) => createRevision(transaction, newRevision),
    // What later requests may change is kept; the rest of a revision never changes.
    toReceipt: ({ id, labels, error_taxonomy_description }) => ({ id, labels, error_taxonomy_description }),
    async recall({ id, ...then }) {
      return { ...(await findRevision(database, newRevision.accountId, id)), ...then };
    },
  });
}
