/** What the list of evaluators shows, as it stands in the address bar. */
export interface EvaluatorsSearch {
  q?: string;
  /** Archived profiles too. */
  archived?: true;
}

export function readEvaluatorsSearch(search: Record<string, unknown>): EvaluatorsSearch {
  // The router reads «q=404» as a number.
  const q = typeof search.q === "number" ? String(search.q) : search.q;
  return {
    ...(typeof q === "string" && q !== "" && { q }),
    ...(search.archived === true && { archived: true }),
  };
}
