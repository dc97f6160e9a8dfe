import { isRevision } from "../../../search-params.ts";

/** The revisions to compare. */
export interface ProfileSearch {
  from?: number;
  to?: number;
}

export function readProfileSearch({ from, to }: Record<string, unknown>): ProfileSearch {
  return { ...(isRevision(from) && { from }), ...(isRevision(to) && { to }) };
}
