import type { Micros } from "../micros.ts";

export interface ProjectsTable {
  id: string;
  account_id: string;
  name: string;
  /** The user who created it. */
  created_by: string;
  created_at: Micros;
}
