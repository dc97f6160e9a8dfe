/** A key of the keyboard, beside what it does. */
export function KeyHint({ children }: { children: string }) {
  return (
    <kbd className="rounded border border-line-strong bg-sunken px-1 font-mono text-xs text-ink-2">
      {children}
    </kbd>
  );
}
