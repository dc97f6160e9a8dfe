import type { Micros } from "../columns.ts";

/** What evaluators are configured with. */
export interface EvaluatorTables {
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

/** Which revision of a taxonomy has a label. */
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
