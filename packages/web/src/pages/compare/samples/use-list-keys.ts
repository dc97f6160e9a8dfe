import { useEffect, useState } from "react";

/** J and K go through a list; while an item is open they open its neighbours. Enter opens the active one. */
export function useListKeys<Item>(
  items: readonly Item[],
  open: Item | undefined,
  onOpen: (item: Item) => void,
): { activeIndex: number; previous: Item | undefined; next: Item | undefined } {
  const [active, setActive] = useState(-1);
  const openIndex = open === undefined ? -1 : items.indexOf(open);
  const activeIndex = openIndex >= 0 ? openIndex : Math.min(active, items.length - 1);
  const previous = openIndex > 0 ? items[openIndex - 1] : undefined;
  const next = openIndex >= 0 ? items[openIndex + 1] : undefined;

  useEffect(() => {
    function onKey(event: KeyboardEvent) {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const moved = { j: 1, k: -1 }[event.key];
      if (moved !== undefined) {
        const index = Math.min(Math.max(activeIndex + moved, 0), items.length - 1);
        const item = items[index];
        if (item === undefined) return;
        event.preventDefault();
        setActive(index);
        if (openIndex >= 0) onOpen(item);
        else document.querySelector(`[data-row="${index}"]`)?.scrollIntoView({ block: "nearest" });
      }
      if (event.key === "Enter" && openIndex < 0 && event.target === document.body) {
        const item = items[activeIndex];
        if (item !== undefined) onOpen(item);
      }
    }
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  });
  return { activeIndex, previous, next };
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches("input, textarea, select, [role=radio], [role=menuitem]"))
  );
}
