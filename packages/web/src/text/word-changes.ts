import { diffWordsWithSpace } from "diff";

/** A stretch of a text that one revision has, the other has, or both have. */
export interface Stretch {
  kind: "same" | "added" | "removed";
  text: string;
}

/** Longer texts are shown whole, one after the other: comparing them word by word would hold up the page. */
const mostCharacters = 40_000;

/** What became of the words of a text; undefined where it is too long to say. */
export function wordChanges(before: string, after: string): Stretch[] | undefined {
  if (before.length + after.length > mostCharacters) return undefined;
  return diffWordsWithSpace(before, after).map(({ value, added, removed }) => ({
    kind: added ? "added" : removed ? "removed" : "same",
    text: value,
  }));
}
