import { Outlet, useRouter } from "@tanstack/react-router";
import { Menu as MenuIcon } from "lucide-react";
import { Suspense, useEffect, useMemo, useState } from "react";
import { useRefusal } from "../data/accounts.ts";
import { IconButton } from "../ui/button.tsx";
import { Modal } from "../ui/dialog.tsx";
import { lazyPart } from "../ui/load.ts";
import { useShortcut, useShortcutRegistry } from "../ui/shortcuts.tsx";
import { linkGroups, Mark, Navigation, SectionPages } from "./navigation.tsx";
import { Palette } from "./palette.tsx";
import { type PaletteEntry, paletteActions } from "./palette-entries.ts";

/** The frame of every page: navigation and user menu. */
export function Shell() {
  const [isOpen, setOpen] = useState(false);
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  return (
    <div className="flex h-dvh flex-col bg-canvas text-ink md:flex-row print:block print:h-auto">
      <a
        href="#main"
        className="sr-only z-50 rounded-md bg-accent px-3 py-2 text-on-accent focus:not-sr-only focus:absolute focus:top-2 focus:left-2"
      >
        Skip to content
      </a>
      <aside
        aria-label="Presage"
        className="hidden w-56 shrink-0 border-r border-line bg-surface md:block rail:w-24 print:hidden"
      >
        <Navigation onSearch={() => setPaletteOpen(true)} />
      </aside>
      <header className="flex h-12 shrink-0 items-center gap-2 border-b border-line bg-surface px-3 md:hidden print:hidden">
        <IconButton
          label="Menu"
          icon={<MenuIcon aria-hidden />}
          aria-haspopup="dialog"
          aria-expanded={isOpen}
          onClick={() => setOpen(true)}
        />
        <Modal
          name="Menu"
          isOpen={isOpen}
          onOpenChange={setOpen}
          placement="left"
          aria-describedby={undefined}
        >
          <Navigation
            onNavigate={() => setOpen(false)}
            onSearch={() => {
              setOpen(false);
              setPaletteOpen(true);
            }}
          />
        </Modal>
        <Mark />
      </header>
      <div className="flex min-h-0 min-w-0 flex-1 flex-col print:block">
        <SectionPages />
        <main
          id="main"
          tabIndex={-1}
          // The heading would repeat the section's tabs, which mark the current page.
          className="min-h-0 flex-1 overflow-y-auto outline-none print:overflow-visible not-print:[nav+&_h1]:sr-only"
        >
          <Outlet />
        </main>
      </div>
      <QuickNavigation isPaletteOpen={isPaletteOpen} onPalette={setPaletteOpen} />
    </div>
  );
}

const ShortcutsDialog = lazyPart(async () => (await import("../ui/shortcuts-dialog.tsx")).ShortcutsDialog);

const shortcutGroup = "Everywhere";

/** The palette, the shortcuts dialog, and the keys for pages. The palette comes with the page, so that no typed text is lost. */
function QuickNavigation({
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
    group: shortcutGroup,
    run: () => onPalette(!isPaletteOpen),
  });
  useShortcut({
    keys: "?",
    label: "Show the shortcuts",
    group: shortcutGroup,
    run: () => setShowsShortcuts(true),
  });
  const { history } = useRouter();
  const mayEvaluate = useRefusal("evaluate") === undefined;
  const actions = useMemo(
    () => [...(mayEvaluate ? paletteActions : []), shortcutsAction(() => setShowsShortcuts(true))],
    [mayEvaluate],
  );
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

/** Whether the server, rather than the router, renders an address. */
const isReference = (address: string) => /^\/docs(\/|$)/.test(address);

const shortcutsAction = (action: () => void): PaletteEntry => ({
  id: "shortcuts",
  group: "Action",
  title: "Keyboard shortcuts",
  keys: "?",
  action,
});

/** Whether a dialog is or was open. It stays mounted from then on, so that it can close in its own time. */
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
