import type { Micros } from "../micros.ts";

/** Which process does what only one does at a time. */
export interface LeasesTable {
  name: string;
  holder: string;
  until: Micros;
}

/** Deletions of an account's results by a filter, which are worked off in the background. */
export interface ResultDeletionsTable {
  id: string;
  account_id: string;
  /** JSON: the results that match. */
  filter: string;
  /** How many there were at the request. */
  matched: number;
  /** Results up to this number are dealt with. */
  after_id: number;
  /** Results that were stored later stay. */
  up_to_id: number;
  deleted: number;
  /** The user who requested it. */
  created_by: string;
  created_at: Micros;
  finished_at: Micros | null;
}
