/** What the list of evaluators shows, as it stands in the address bar. */
export interface EvaluatorsSearch {
  q?: string;
  /** Archived profiles too. */
  archived?: true;
}

export function readEvaluatorsSearch({ q, archived }: Record<string, unknown>): EvaluatorsSearch {
  return {
    // «q=404» comes as a number, «q=true» as a truth value.
    ...(["string", "number", "boolean"].includes(typeof q) && q !== "" && { q: String(q) }),
    ...(archived === true && { archived }),
  };
}
