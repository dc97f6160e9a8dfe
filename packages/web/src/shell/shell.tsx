import { Outlet } from "@tanstack/react-router";
import { Menu as MenuIcon } from "lucide-react";
import { useState } from "react";
import { IconButton } from "../ui/button.tsx";
import { Modal } from "../ui/dialog.tsx";
import { Mark, Navigation, SectionPages } from "./navigation.tsx";
import { QuickNavigation } from "./quick-navigation.tsx";

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
          // Where the section's tabs say which page it is, a heading would say it twice.
          className="min-h-0 flex-1 overflow-y-auto outline-none print:overflow-visible not-print:[nav+&_h1]:sr-only"
        >
          <Outlet />
        </main>
      </div>
      <QuickNavigation isPaletteOpen={isPaletteOpen} onPalette={setPaletteOpen} />
    </div>
  );
}
