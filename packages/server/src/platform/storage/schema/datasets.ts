import type { Generated } from "kysely";
import type { Micros } from "../micros.ts";

export interface DatasetsTable {
  id: string;
  account_id: string;
  name: string;
  description: string | null;
  /** JSON, texts by name. */
  tags: string | null;
  /** JSON: what counts as a change of its states. */
  change: string | null;
  /** The latest revision's number; 0 before there is one. */
  last_revision: number;
  /** The user who created it. */
  created_by: string;
  created_at: Micros;
}

/** `filling`: being uploaded, invisible. `sealed`: complete. `deleted`: invisible, and its rows are being deleted. */
export type DatasetRevisionState = "filling" | "sealed" | "deleted";

export interface DatasetRevisionsTable {
  id: Generated<number>;
  account_id: string;
  dataset_id: string;
  state: DatasetRevisionState;
  /** Here and below, null until it is sealed. */
  number: number | null;
  digest: string | null;
  trajectories: number | null;
  samples: number;
  /** The length of its lines as they are exported. */
  bytes: number;
  /** When its upload began; once it is sealed, when that was. */
  created_at: Micros;
  /** When its upload last wrote something. */
  touched_at: Micros;
}

/** The columns that samples are found by. */
export interface DatasetSamplesTable {
  revision_id: number;
  /** Counts the revision's samples from 1, in the order of their lines. */
  position: number;
  trajectory_id: string;
  step: number;
  sample_id: string;
  /** The length of its line as it is exported. */
  bytes: number;
}

export interface DatasetPayloadsTable {
  revision_id: number;
  position: number;
  /** The part that holds the context, or the last message. */
  part: string | null;
  /** JSON: the line's fields that no other column holds. */
  body: string;
}

/** What samples of a revision share, each text once: a context, or a message behind the messages before it. */
export interface DatasetPartsTable {
  revision_id: number;
  /** Of the previous part's digest and the text. */
  digest: string;
  /** The digest of the message before this one. */
  previous: string | null;
  /** JSON. */
  text: string;
}
