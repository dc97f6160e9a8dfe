import { answersTo, mayAnswerTo } from "./world/match-thing.ts";
import { shortName, withoutArticle } from "./world/name-thing.ts";
import type { Thing } from "./world/thing.ts";

export interface Found {
  thing: Thing;
  /** The list that contains it, from which it can be removed. */
  siblings: Thing[];
  /** What it is in, from the inside out: ["bowl", "counter"]. */
  within: string[];
}

/** Everything that `words` can mean, in a list and inside its things: by full name, otherwise by the end of the name. */
export function findThings(things: Thing[], words: string): Found[] {
  const exact = findNamed(things, words);
  return exact.length > 0 ? exact : find(things, words, mayAnswerTo);
}

/** Everything whose full name is `words`. */
export function findNamed(things: Thing[], words: string): Found[] {
  return find(things, words, answersTo);
}

function find(things: Thing[], words: string, matches: (thing: Thing, name: string) => boolean): Found[] {
  const name = withoutArticle(words).toLowerCase();
  const found: Found[] = [];
  const visit = (siblings: Thing[], within: string[]): void => {
    for (const thing of siblings) {
      if (matches(thing, name)) found.push({ thing, siblings, within });
      const { contents, door, phrase } = thing;
      if (contents !== undefined && door !== "closed") visit(contents.things, [shortName(phrase), ...within]);
    }
  };
  visit(things, []);
  return found;
}
