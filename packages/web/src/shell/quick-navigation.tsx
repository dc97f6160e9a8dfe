import { useRouter } from "@tanstack/react-router";
import { Suspense, useEffect, useMemo, useState } from "react";
import { lazyPart } from "../ui/load.ts";
import { useShortcut, useShortcutRegistry } from "../ui/shortcuts.tsx";
import { linkGroups } from "./navigation.tsx";
import { Palette } from "./palette.tsx";
import { type PaletteEntry, paletteActions } from "./palette-entries.ts";

const ShortcutsDialog = lazyPart(async () => (await import("../ui/shortcuts-dialog.tsx")).ShortcutsDialog);

const group = "Everywhere";

/** The command palette, the list of shortcuts and the keys that go to pages. The palette is not loaded on first use: what is typed meanwhile would be lost. */
export function QuickNavigation({
  isPaletteOpen,
  onPalette,
}: {
  isPaletteOpen: boolean;
  onPalette(isOpen: boolean): void;
}) {
  const [showsShortcuts, setShowsShortcuts] = useState(false);
  const hasShortcuts = useWasOpened(showsShortcuts);
  useGoKeys();
  useShortcut({
    keys: "mod+k",
    label: "Go to a page, a run, a dataset …",
    group,
    run: () => onPalette(!isPaletteOpen),
  });
  useShortcut({ keys: "?", label: "Show the shortcuts", group, run: () => setShowsShortcuts(true) });
  const { history } = useRouter();
  const actions = useMemo(() => [...paletteActions, shortcutsAction(() => setShowsShortcuts(true))], []);
  return (
    <Suspense>
      <Palette
        isSignedIn
        isOpen={isPaletteOpen}
        onClose={() => onPalette(false)}
        actions={actions}
        onGo={(address) => (isReference(address) ? location.assign(address) : history.push(address))}
      />
      {hasShortcuts && <ShortcutsDialog isOpen={showsShortcuts} onClose={() => setShowsShortcuts(false)} />}
    </Suspense>
  );
}

/** What the server renders, not the router. */
const isReference = (address: string) => /^\/docs(\/|$)/.test(address);

const shortcutsAction = (action: () => void): PaletteEntry => ({
  id: "shortcuts",
  group: "Action",
  title: "Keyboard shortcuts",
  keys: "?",
  action,
});

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
      .map(({ keys, label, to }) =>
        keys === undefined
          ? undefined
          : shortcuts.register({ keys, label, group: "Go to", run: () => history.push(to) }),
      );
    return () => {
      for (const remove of removals) remove?.();
    };
  }, [shortcuts, history]);
}
