import { cutText } from "./cut-text.ts";
import type { Multiset } from "./multiset.ts";

const shownItems = 10;
const shownItemCharacters = 60;

/** A sentence that may end with a quoted one, which has a full stop of its own: `Missing: "It is a box."` */
export function endSentence(text: string): string {
  return /[.!?…]"$/.test(text) ? text : `${text}.`;
}

/** Names the first few of some items for a person. */
export function listItems(items: Multiset): string {
  const names = [...items.keys()]
    .slice(0, shownItems)
    .map((item) => JSON.stringify(cutText(item, shownItemCharacters)));
  return `${names.join(", ")}${items.size > shownItems ? ` and ${items.size - shownItems} more` : ""}`;
}
