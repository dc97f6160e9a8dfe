import { isRevision } from "../../search-params.ts";

/** The search parameters of a taxonomy's page. */
export interface TaxonomySearch {
  /** Absent: the newest. */
  revision?: number;
  /** The revision to compare with. */
  against?: number;
}

export function readTaxonomySearch({ revision, against }: Record<string, unknown>): TaxonomySearch {
  return {
    ...(isRevision(revision) && { revision }),
    ...(isRevision(against) && { against }),
  };
}
