import { sql } from "kysely";
import type { Database } from "../../../storage/schema/tables.ts";
import { type Lead, possibleLeads } from "./access-paths.ts";
import { endOf, heldAgainst, type Id, type Search, unionOf, walksOf } from "./search-walks-store.ts";

/** How far the leads of a search are counted to find the rarest. So many entries of an index are read in a millisecond. */
const maxCounted = 2_000;

/** The account's results of a filter, a page of them, by their ids alone. */
export async function selectResultIds(reader: Database, search: Search): Promise<number[]> {
  const lead = await chooseLead(reader, search);
  const walks = walksOf(lead, search, heldAgainst(lead, search));
  const [first] = walks;
  if (first === undefined) return [];
  const query = walks.length === 1 ? first : sql<Id>`${unionOf(walks)} ${endOf("id", search.page)}`;
  const { rows } = await query.execute(reader);
  return rows.map(({ id }) => id);
}

/**
 * A common lead would be walked a long way to results that fit a rare one, and databases guess badly which is which (SQLite
 * has no figures of its tables at all). So the leads are counted, up to a bound, and the rarest one leads. Of common leads that
 * hardly ever meet, one is walked all the way nevertheless.
 */
async function chooseLead(reader: Database, search: Search): Promise<Lead> {
  const leads = possibleLeads(search.filter);
  if (leads.length === 1) return leads[0];
  const page = { ...search.page, limit: maxCounted };
  const counts = leads.map((lead, index) => {
    const walks = walksOf(lead, { ...search, page }, []);
    const count =
      walks.length === 0
        ? sql`0`
        : sql`(select count(*) from (select id from (${unionOf(walks)}) as walks limit ${maxCounted}) as entries)`;
    return sql`${count} as ${sql.ref(String(index))}`;
  });
  const { rows } = await sql<Record<string, number>>`select ${sql.join(counts)}`.execute(reader);
  const countOf = (index: number) => rows[0]?.[String(index)] ?? maxCounted;
  return leads.reduce(
    (best, lead, index) => (countOf(index) < best.count ? { lead, count: countOf(index) } : best),
    { lead: leads[0], count: countOf(0) },
  ).lead;
}
