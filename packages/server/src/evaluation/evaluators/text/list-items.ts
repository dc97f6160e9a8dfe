import type { Multiset } from "./multiset.ts";

const shownItems = 10;
const shownCharacters = 60;

/** Names the first few of some items for a person. */
export function listItems(items: Multiset): string {
  const names = [...items.keys()]
    .slice(0, shownItems)
    .map((item) =>
      JSON.stringify(item.length > shownCharacters ? `${item.slice(0, shownCharacters)}…` : item),
    );
  return `${names.join(", ")}${items.size > shownItems ? ` and ${items.size - shownItems} more` : ""}`;
}
