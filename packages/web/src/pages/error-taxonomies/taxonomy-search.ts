/** What a taxonomy's page shows, as it stands in the address bar. */
export interface TaxonomySearch {
  /** Absent: the newest. */
  revision?: number;
  /** The revision that it is compared with. */
  against?: number;
}

export function readTaxonomySearch({ revision, against }: Record<string, unknown>): TaxonomySearch {
  return {
    ...(isRevision(revision) && { revision }),
    ...(isRevision(against) && { against }),
  };
}

function isRevision(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 1;
}
