export interface EvaluatorsSearch {
  q?: string;
  /** Shows archived profiles too. */
  archived?: true;
}

export function readEvaluatorsSearch({ q, archived }: Record<string, unknown>): EvaluatorsSearch {
  return {
    // “q=404” is parsed as a number, “q=true” as a boolean.
    ...(["string", "number", "boolean"].includes(typeof q) && q !== "" && { q: String(q) }),
    ...(archived === true && { archived }),
  };
}
