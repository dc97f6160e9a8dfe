const names: Record<string, string> = { mod: isApple() ? "⌘" : "Ctrl", ArrowDown: "↓", ArrowUp: "↑" };

/** The keys of a shortcut as they are written on a keyboard. */
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
