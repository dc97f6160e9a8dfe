import type { Database } from "../../storage/tables.ts";
import { builtInRevisions } from "./built-in/built-in-revisions.ts";
import {
  countRevisions,
  type RevisionFilter,
  selectRevisions,
  type TaxonomyRevision,
} from "./error-taxonomies-store.ts";

/** The revisions that an account sees: its own, the newest first, and behind them those that come with Presage. */
export async function listRevisions(
  database: Database,
  accountId: string,
  filter: RevisionFilter,
): Promise<TaxonomyRevision[]> {
  const own = await selectRevisions(database, accountId, filter);
  const builtIn = builtInRevisions(accountId, filter);
  if (own.length === filter.limit || builtIn.length === 0) return own;
  // A page with some of its own is the last such page; on an empty one it takes a count to know how many were passed.
  const isPast = own.length === 0 && filter.offset > 0;
  const passed = isPast ? filter.offset - (await countRevisions(database, accountId, filter)) : 0;
  return [...own, ...builtIn.slice(passed, passed + filter.limit - own.length)];
}
