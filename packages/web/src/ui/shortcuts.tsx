// The keyboard shortcuts of the whole page.

import { createContext, type ReactNode, use, useEffectEvent, useLayoutEffect, useState } from "react";

export interface Shortcut {
  /** As in `KeyboardEvent.key`: `j`, `?`, or in sequence, `g r`; `mod+k` is Control or, on Apple keyboards, Command. */
  keys: string;
  label: string;
  /** The heading under which the shortcut is listed. */
  group: string;
  run(): void;
}

/** Registers a shortcut for as long as the component is shown. */
export function useShortcut({ keys, label, group, run }: Shortcut, isOn = true): void {
  const shortcuts = useShortcutRegistry();
  const onPress = useEffectEvent(run);
  // Before painting: whatever is visible can be used.
  useLayoutEffect(() => {
    if (!isOn) return;
    return shortcuts.register({ keys, label, group, run: () => onPress() });
  }, [shortcuts, keys, label, group, isOn]);
}

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

/** A dialog blocks the rest of the page, unlike a drawer. */
function isModalOpen(): boolean {
  return document.querySelector("[data-modal]") !== null;
}

const takers =
  "textarea, select, [contenteditable=true], [role=textbox], [role=menu], [role=listbox], [role=combobox]";

const silentInputs = new Set(["button", "checkbox", "radio", "range", "submit"]);

/** Whether pressed keys already mean something to the target, so that no shortcut may take them. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  if (target instanceof HTMLInputElement) return !silentInputs.has(target.type);
  return target.closest(takers) !== null;
}

interface Shortcuts {
  /** Returns a function that removes the shortcut. If two have the same keys, the newer one runs. */
  register(shortcut: Shortcut): () => void;
  /** All shortcuts, oldest first; the same array until one is added or removed. */
  list(): readonly Shortcut[];
  subscribe(listener: () => void): () => void;
  /** Runs the shortcut of a key that was not handled otherwise, and returns whether there was one. */
  press(key: PressedKey): boolean;
}

interface PressedKey {
  key: string;
  hasMod: boolean;
  atMs: number;
}

/** The longest time between the keys of a sequence. */
const sequenceMs = 1_500;

export function createShortcuts(): Shortcuts {
  let shortcuts: readonly Shortcut[] = [];
  const listeners = new Set<() => void>();
  let prefix: { key: string; atMs: number } | undefined;

  function replace(next: readonly Shortcut[]): void {
    shortcuts = next;
    for (const listener of listeners) listener();
  }

  return {
    register(shortcut) {
      replace([...shortcuts, shortcut]);
      return () => replace(shortcuts.filter((other) => other !== shortcut));
    },
    list: () => shortcuts,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    press({ key, hasMod, atMs }) {
      const own = hasMod ? `mod+${key.toLowerCase()}` : key;
      const before = prefix !== undefined && atMs - prefix.atMs <= sequenceMs ? prefix.key : undefined;
      prefix = undefined;
      const sequence = before === undefined ? undefined : `${before} ${own}`;
      const found =
        shortcuts.findLast(({ keys }) => keys === sequence) ?? shortcuts.findLast(({ keys }) => keys === own);
      if (found !== undefined) {
        found.run();
        return true;
      }
      if (shortcuts.some(({ keys }) => keys.startsWith(`${own} `))) prefix = { key: own, atMs };
      return false;
    },
  };
}

const names: Record<string, string> = { mod: isApple() ? "⌘" : "Ctrl", ArrowDown: "↓", ArrowUp: "↑" };

/** The keys of a shortcut, as a keyboard labels them. */
export function Keys({ keys }: { keys: string }) {
  return (
    <span className="inline-flex shrink-0 items-center gap-1">
      {keys.split(/[ +]/).map((key) => (
        <kbd
          key={key}
          className="min-w-5 rounded border border-line-strong bg-surface px-1 text-center font-sans text-xs text-ink-2"
        >
          {names[key] ?? (key.length === 1 ? key.toUpperCase() : key)}
        </kbd>
      ))}
    </span>
  );
}

function isApple(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.platform);
}
