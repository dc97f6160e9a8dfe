export interface Shortcut {
  /** As `KeyboardEvent.key`: `j`, `?`, or one after the other, `g r`; `mod+k` is Control or, on Apple's keyboards, Command. */
  keys: string;
  label: string;
  /** The heading under which it is listed. */
  group: string;
  run(): void;
}

export interface Shortcuts {
  /** Returns what removes it. Of two with the same keys the newer one runs. */
  register(shortcut: Shortcut): () => void;
  /** All, the oldest first; the same array until one comes or goes. */
  list(): readonly Shortcut[];
  subscribe(listener: () => void): () => void;
  /** Runs the shortcut of a key that nothing else took, and returns whether there was one. */
  press(key: PressedKey): boolean;
}

export interface PressedKey {
  key: string;
  hasMod: boolean;
  atMs: number;
}

/** How long the second key of two may take. */
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
