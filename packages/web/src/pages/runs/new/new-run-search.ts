import type { NewRunSearch } from "../../../parts/runs.tsx";
import { isRevision } from "../../../search-params.ts";

/** Reads the URL; invalid values are ignored. */
export function readNewRunSearch({ dataset, revision }: Record<string, unknown>): NewRunSearch {
  return {
    ...(typeof dataset === "string" && dataset !== "" && { dataset }),
    ...(isRevision(revision) && { revision }),
  };
}
