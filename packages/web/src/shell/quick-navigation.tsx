import { useRouter } from "@tanstack/react-router";
import { lazy, Suspense, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { loadPage } from "../load-page.ts";
import { useShortcutRegistry } from "../ui/shortcuts/shortcuts-provider.tsx";
import { useShortcut } from "../ui/shortcuts/use-shortcut.ts";
import { goKeysOf } from "./go-keys.ts";
import { linkGroups } from "./navigation.tsx";

const loadPalette = () => import("./palette/palette.tsx");
const Palette = lazy(async () => ({ default: (await loadPage(loadPalette)).Palette }));
const ShortcutsDialog = lazy(async () => ({
  default: (await loadPage(() => import("../ui/shortcuts/shortcuts-dialog.tsx"))).ShortcutsDialog,
}));

const group = "Everywhere";
const paletteDelayMs = 2_000;

/** The command palette, the list of shortcuts and the keys that go to pages. Both dialogs are loaded on first use. */
export function QuickNavigation({
  isPaletteOpen,
  onPalette,
}: {
  isPaletteOpen: boolean;
  onPalette(isOpen: boolean): void;
}) {
  const [showsShortcuts, setShowsShortcuts] = useState(false);
  const hasPalette = useWasOpened(isPaletteOpen);
  const hasShortcuts = useWasOpened(showsShortcuts);
  const takeTyped = useTypeAhead(isPaletteOpen);
  useGoKeys();
  useShortcut({
    keys: "mod+k",
    label: "Go to a page, a run, a dataset …",
    group,
    run: () => onPalette(!isPaletteOpen),
  });
  useShortcut({ keys: "?", label: "Show the shortcuts", group, run: () => setShowsShortcuts(true) });
  const actions = useMemo(
    () => [
      {
        id: "shortcuts",
        group: "Pages",
        title: "Keyboard shortcuts",
        keys: "?",
        action: () => setShowsShortcuts(true),
      },
      { id: "docs", group: "Pages", title: "API reference", action: () => location.assign("/docs") },
    ],
    [],
  );
  // Loaded once the page has settled, or the first letters would be typed before it is there.
  useEffect(() => {
    const timer = setTimeout(() => void loadPalette().catch(() => undefined), paletteDelayMs);
    return () => clearTimeout(timer);
  }, []);
  return (
    <Suspense>
      {hasPalette && (
        <Palette
          isOpen={isPaletteOpen}
          onClose={() => onPalette(false)}
          actions={actions}
          takeTyped={takeTyped}
        />
      )}
      {hasShortcuts && <ShortcutsDialog isOpen={showsShortcuts} onClose={() => setShowsShortcuts(false)} />}
    </Suspense>
  );
}

/** Keeps what is typed before the palette's input has the focus: those keys would go to the page and its shortcuts. */
function useTypeAhead(isOpen: boolean): () => string {
  const typed = useRef("");
  useLayoutEffect(() => {
    if (!isOpen) return;
    typed.current = "";
    const onKeyDown = (event: KeyboardEvent) => {
      const { key, target } = event;
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
      if (target instanceof Element && target.closest("[data-modal]") !== null) return;
      if (key === "Backspace") typed.current = typed.current.slice(0, -1);
      else if (key.length === 1) typed.current += key;
      else if (key !== "Enter") return;
      event.preventDefault();
      event.stopPropagation();
    };
    window.addEventListener("keydown", onKeyDown, { capture: true });
    return () => window.removeEventListener("keydown", onKeyDown, { capture: true });
  }, [isOpen]);
  return useCallback(() => {
    const text = typed.current;
    typed.current = "";
    return text;
  }, []);
}

/** Whether a dialog is or was open. It stays once it was, so that it can close in its own time. */
function useWasOpened(isOpen: boolean): boolean {
  const [wasOpened, setWasOpened] = useState(isOpen);
  if (isOpen && !wasOpened) setWasOpened(true);
  return isOpen || wasOpened;
}

function useGoKeys(): void {
  const shortcuts = useShortcutRegistry();
  const { history } = useRouter();
  useEffect(() => {
    const removals = linkGroups
      .flatMap(({ links }) => links)
      .map(({ to, label }) => {
        const keys = goKeysOf(to);
        if (keys === undefined) return undefined;
        return shortcuts.register({ keys, label, group: "Go to", run: () => history.push(to) });
      });
    return () => {
      for (const remove of removals) remove?.();
    };
  }, [shortcuts, history]);
}
