import { useSyncExternalStore } from "react";
import { Dialog } from "./dialog.tsx";
import type { Shortcut } from "./shortcuts.tsx";
import { Keys, useShortcutRegistry } from "./shortcuts.tsx";

/** Keys that always work, by means of the browser or a table. */
const always = [
  { keys: "Enter", label: "Open the row", group: "Tables" },
  { keys: "Esc", label: "Close what is open, or deselect all rows", group: "Tables" },
];

/** Lists every shortcut that currently works on the page. */
export function ShortcutsDialog({ isOpen, onClose }: { isOpen: boolean; onClose(): void }) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title="Keyboard shortcuts"
      hint="Inactive while you type."
      isWide
    >
      <ShortcutList />
    </Dialog>
  );
}

function ShortcutList() {
  const { list, subscribe } = useShortcutRegistry();
  const shortcuts = useSyncExternalStore(subscribe, list);
  const groups = Map.groupBy<string, Omit<Shortcut, "run">>([...shortcuts, ...always], ({ group }) => group);
  return (
    <div className="gap-x-8 sm:columns-2">
      {[...groups].map(([group, listed]) => (
        <section key={group} aria-label={group} className="mb-5 break-inside-avoid">
          <h3 className="border-b border-line pb-1.5 text-xs font-medium text-ink-3">{group}</h3>
          <dl>
            {listed.map(({ keys, label }) => (
              <div
                key={`${keys} ${label}`}
                className="flex items-center gap-3 border-b border-line py-1.5 text-sm"
              >
                <dt className="min-w-0 flex-1">{label}</dt>
                <dd>
                  <Keys keys={keys} />
                </dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </div>
  );
}
