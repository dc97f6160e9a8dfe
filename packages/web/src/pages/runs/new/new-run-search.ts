import { isRevision } from "../../../search-params.ts";

/** What a new run starts with. */
export interface NewRunSearch {
  /** A dataset's id. */
  dataset?: string;
  revision?: number;
}

export function readNewRunSearch({ dataset, revision }: Record<string, unknown>): NewRunSearch {
  return {
    ...(typeof dataset === "string" && dataset !== "" && { dataset }),
    ...(isRevision(revision) && { revision }),
  };
}
