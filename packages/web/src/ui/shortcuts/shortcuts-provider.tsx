import { createContext, type ReactNode, use, useLayoutEffect, useState } from "react";
import { createShortcuts, type Shortcuts } from "./create-shortcuts.ts";
import { isTyping } from "./is-typing.ts";

const ShortcutsContext = createContext<Shortcuts | undefined>(undefined);

/** Listens to the keys of the whole page. */
export function ShortcutsProvider({ children }: { children: ReactNode }) {
  const [shortcuts] = useState(createShortcuts);
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const hasMod = event.ctrlKey || event.metaKey;
      if (event.defaultPrevented || event.altKey || event.isComposing) return;
      if (!hasMod && (isTyping(event.target) || isModalOpen())) return;
      if (shortcuts.press({ key: event.key, hasMod, atMs: event.timeStamp })) event.preventDefault();
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, [shortcuts]);
  return <ShortcutsContext value={shortcuts}>{children}</ShortcutsContext>;
}

export function useShortcutRegistry(): Shortcuts {
  const shortcuts = use(ShortcutsContext);
  if (shortcuts === undefined) throw new Error("There is no ShortcutsProvider.");
  return shortcuts;
}

/** A dialog above the page, unlike a drawer beside it, leaves nothing else to be done. */
function isModalOpen(): boolean {
  return document.querySelector("[data-modal]") !== null;
}
