import type { Kysely } from "kysely";
import type { Micros } from "../columns.ts";
import type { AccountTables } from "./accounts.ts";
import type { RealityTables } from "./reality.ts";
import type { ResultTables } from "./results.ts";
import type { RunTables } from "./runs.ts";

/** The configuration of evaluators. */
interface EvaluatorTables {
  error_taxonomies: ErrorTaxonomiesTable;
  error_taxonomy_revisions: ErrorTaxonomyRevisionsTable;
  error_taxonomy_labels: ErrorTaxonomyLabelsTable;
  evaluator_profiles: EvaluatorProfilesTable;
  evaluator_profile_revisions: EvaluatorProfileRevisionsTable;
}

export interface ErrorTaxonomiesTable {
  id: string;
  account_id: string;
  name: string;
  description: string | null;
  /** The latest revision's number; incremented before a revision is inserted. */
  last_revision: number;
  created_at: Micros;
}

export interface ErrorTaxonomyRevisionsTable {
  id: string;
  taxonomy_id: string;
  account_id: string;
  revision: number;
  /** JSON. */
  body: string;
  /** JSON. */
  metadata: string | null;
  created_at: Micros;
}

/** The revision of a taxonomy that has a label. */
interface ErrorTaxonomyLabelsTable {
  taxonomy_id: string;
  label: string;
  revision_id: string;
  /** Sorts the labels of a revision. */
  position: number;
}

export interface EvaluatorProfilesTable {
  public_id: string;
  account_id: string;
  evaluator_family: string;
  name: string;
  /** The latest revision's number. */
  last_revision: number;
  archived_at: Micros | null;
  created_at: Micros;
}

export interface EvaluatorProfileRevisionsTable {
  public_id: string;
  revision: number;
  /** JSON. */
  config: string;
  description: string | null;
  created_at: Micros;
}

export interface Tables extends AccountTables, EvaluatorTables, ResultTables, RunTables, RealityTables {
  settings: SettingsTable;
  idempotent_requests: IdempotentRequestsTable;
  leases: LeasesTable;
}

export type Database = Kysely<Tables>;

/** The processes that do what only one process may do at a time. */
interface LeasesTable {
  name: string;
  holder: string;
  until: Micros;
}

/** Requests with an `Idempotency-Key`, remembered for a day. */
interface IdempotentRequestsTable {
  /** A digest of the caller, the operation and the key. */
  id: string;
  /** A digest of the rest of the request. */
  request_digest: string;
  /** The data from which the response is rebuilt: JSON, or the name of an import. */
  receipt: string;
  created_at: Micros;
}

/** Values that all processes on the database share: secrets that are created once, the addresses of running servers, and what they saw of the clock. */
interface SettingsTable {
  name: string;
  value: string;
}
