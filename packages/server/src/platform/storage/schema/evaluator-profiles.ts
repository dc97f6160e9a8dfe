import type { Micros } from "../micros.ts";

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
