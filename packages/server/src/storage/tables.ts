import type { Kysely } from "kysely";

/** Microseconds since 1970-01-01 UTC. */
export type Micros = number;

/** Values that are made once for a database and shared by every process on it. */
export interface SettingsTable {
  name: string;
  value: string;
}

export interface AccountsTable {
  id: string;
  name: string;
  created_at: Micros;
}

export interface UsersTable {
  id: string;
  account_id: string;
  oidc_issuer: string;
  oidc_subject: string;
  email: string | null;
  name: string | null;
  created_at: Micros;
}

export interface ApiKeysTable {
  id: string;
  user_id: string;
  name: string;
  digest: string;
  prefix: string;
  last_four: string;
  created_at: Micros;
  expires_at: Micros | null;
  revoked_at: Micros | null;
  last_used_at: Micros | null;
}

export interface ErrorTaxonomiesTable {
  id: string;
  account_id: string;
  name: string;
  description: string | null;
  /** The highest number that a revision of it has; every revision is counted here first. */
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

/** Which revision of a taxonomy bears a label. */
export interface ErrorTaxonomyLabelsTable {
  taxonomy_id: string;
  label: string;
  revision_id: string;
  /** Orders the labels of a revision. */
  position: number;
}

export interface Tables {
  settings: SettingsTable;
  accounts: AccountsTable;
  users: UsersTable;
  api_keys: ApiKeysTable;
  error_taxonomies: ErrorTaxonomiesTable;
  error_taxonomy_revisions: ErrorTaxonomyRevisionsTable;
  error_taxonomy_labels: ErrorTaxonomyLabelsTable;
}

export type Database = Kysely<Tables>;
