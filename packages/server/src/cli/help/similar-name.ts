import { distance } from "fastest-levenshtein";

const maxDistance = 3;

/** The known name that a misspelt one most likely stands for. */
export function similarName(misspelt: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map((name) => ({ name, edits: distance(misspelt.toLowerCase(), name.toLowerCase()) }))
    // Not more than half of a short name.
    .filter(({ name, edits }) => edits <= Math.min(maxDistance, name.length / 2))
    .sort((one, other) => one.edits - other.edits);
  return best?.name;
}
