import { distance } from "fastest-levenshtein";

/** The known name that a misspelt one most likely stands for, if it takes at most `maxEdits` to get there. */
export function similarName(misspelt: string, known: readonly string[], maxEdits = 3): string | undefined {
  const [best] = known
    .map((name) => ({ name, edits: distance(misspelt.toLowerCase(), name.toLowerCase()) }))
    // Not more than half of a short name.
    .filter(({ name, edits }) => edits <= Math.min(maxEdits, name.length / 2))
    .sort((one, other) => one.edits - other.edits);
  return best?.name;
}
