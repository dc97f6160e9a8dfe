import type { Micros } from "../micros.ts";

export interface ProjectsTable {
  id: string;
  account_id: string;
  name: string;
  /** The user who created it. */
  created_by: string;
  created_at: Micros;
}

/** Groups of results that clients make; results name them. */
export interface ExperimentsTable {
  id: string;
  account_id: string;
  project_id: string;
  name: string;
  /** JSON, texts by name. */
  tags: string | null;
  /** JSON. */
  metadata: string | null;
  created_at: Micros;
}
