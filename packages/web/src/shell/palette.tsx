import { clsx } from "clsx";
import { Search } from "lucide-react";
import { type KeyboardEvent, useEffect, useEffectEvent, useId, useRef, useState } from "react";
import { Modal } from "../ui/dialog.tsx";
import { useFloating } from "../ui/load.ts";
import { Keys } from "../ui/shortcuts.tsx";
import { InlineText } from "../ui/untrusted-text/inline-text.tsx";
import { type PaletteEntry, usePaletteEntries } from "./palette-entries.ts";

interface PaletteProps {
  isOpen: boolean;
  onClose(): void;
  actions: readonly PaletteEntry[];
  /** Goes to an address. */
  onGo(address: string): void;
  /** Absent: only documentation is found. */
  isSignedIn?: boolean;
  /** Text that was typed before the palette was loaded. */
  typed?: string;
}

/** Opens any page or thing by its name or id, or runs an action. After closing by accident, the typed text is still there. */
export function Palette({ isOpen, typed: given = "", ...search }: PaletteProps) {
  const [typed, setTyped] = useState(given);
  const [query, setQuery] = useState(typed);
  const isThere = useFloating(isOpen) !== undefined;
  const { onClose } = search;
  // Collects typed text until there is an input; no shortcut takes these keys.
  useEffect(() => {
    if (!isOpen || isThere) return;
    const keep = (event: globalThis.KeyboardEvent) => {
      const { key, ctrlKey, metaKey } = event;
      if (ctrlKey || metaKey || (key.length !== 1 && key !== "Backspace")) return;
      event.preventDefault();
      event.stopPropagation();
      const change = (text: string) => (key === "Backspace" ? text.slice(0, -1) : text + key);
      setTyped(change);
      setQuery(change);
    };
    addEventListener("keydown", keep, true);
    return () => removeEventListener("keydown", keep, true);
  }, [isOpen, isThere]);
  return (
    <Modal
      name="Go to"
      isOpen={isOpen}
      onOpenChange={(open) => !open && onClose()}
      onOpenAutoFocus={(event) => {
        event.preventDefault();
        const input = event.currentTarget instanceof Element && event.currentTarget.querySelector("input");
        if (!input) return;
        input.focus();
        // Continues text that was just typed; selects text from before, so that typing replaces it.
        if (query !== typed) input.select();
      }}
      aria-describedby={undefined}
      placement="top"
      className="flex max-h-[min(32rem,76dvh)] max-w-xl flex-col overflow-hidden"
    >
      <PaletteSearch {...search} query={query} onQuery={setQuery} />
    </Modal>
  );
}

interface PaletteSearchProps extends Omit<PaletteProps, "isOpen" | "typed"> {
  query: string;
  onQuery(query: string): void;
}

function PaletteSearch({ onClose, onGo, actions, isSignedIn = false, query, onQuery }: PaletteSearchProps) {
  const [chosen, setChosen] = useState(0);
  /** Enter was pressed before anything was found. */
  const [isAwaited, setAwaited] = useState(false);
  const listId = useId();
  const list = useRef<HTMLDivElement>(null);
  const { entries, isSearching, isFailed, isAll } = usePaletteEntries(query, actions, isSignedIn);
  const active = Math.min(chosen, entries.length - 1);
  const optionId = (index: number) => `${listId}-${index}`;

  useEffect(() => {
    list.current
      ?.querySelector(`[id="${CSS.escape(`${listId}-${active}`)}"]`)
      ?.scrollIntoView({ block: "nearest" });
  }, [active, listId]);

  function run({ action }: PaletteEntry): void {
    setAwaited(false);
    onQuery("");
    onClose();
    if (typeof action === "string") onGo(action);
    // Waits until the focus has returned to where it was.
    else requestAnimationFrame(action);
  }

  const [first] = entries;
  const runAwaited = useEffectEvent(run);
  useEffect(() => {
    if (isAwaited && first !== undefined) runAwaited(first);
  }, [isAwaited, first]);

  function onKeyDown(event: KeyboardEvent): void {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const entry = entries[active];
    if (by !== undefined) {
      event.preventDefault();
      setChosen((active + by + entries.length) % Math.max(1, entries.length));
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (entry === undefined) setAwaited(isSearching);
      else run(entry);
    }
  }

  return (
    <>
      <div className="flex items-center gap-2 border-b border-line px-4">
        <Search className="size-4 shrink-0 text-ink-3" aria-hidden />
        <input
          role="combobox"
          aria-label="Search, or paste an ID"
          aria-expanded
          aria-controls={listId}
          aria-activedescendant={entries.length > 0 ? optionId(active) : undefined}
          autoComplete="off"
          spellCheck={false}
          placeholder={
            isSignedIn ? "A page, a run, an action, an operation, or an ID" : "An operation or a guide"
          }
          value={query}
          onChange={({ target }) => {
            onQuery(target.value);
            setChosen(0);
            setAwaited(false);
          }}
          onKeyDown={onKeyDown}
          className="h-12 min-w-0 flex-1 bg-transparent text-base outline-none"
        />
        <Keys keys="Esc" />
      </div>
      <div
        ref={list}
        id={listId}
        role="listbox"
        aria-label="Found"
        tabIndex={-1}
        className="min-h-0 flex-1 overflow-y-auto p-2 outline-none"
      >
        {entries.map((entry, index) => {
          const { group, hint, id, keys, title } = entry;
          return (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the input has the keys
            <div
              key={id}
              id={optionId(index)}
              role="option"
              tabIndex={-1}
              aria-selected={index === active}
              onPointerMove={() => setChosen(index)}
              onClick={() => run(entry)}
              className={clsx(
                "flex h-9 cursor-pointer items-center gap-2 rounded-md px-2 text-sm outline-none",
                index === active && "bg-accent-soft text-accent-ink",
              )}
            >
              <span className="min-w-0 truncate font-medium">
                <InlineText text={title} />
              </span>
              <span className={clsx("min-w-0 flex-1 truncate text-xs", index !== active && "text-ink-3")}>
                {hint}
              </span>
              <span className={clsx("shrink-0 text-xs", index !== active && "text-ink-3")}>{group}</span>
              {keys !== undefined && <Keys keys={keys} />}
            </div>
          );
        })}
        {entries.length === 0 && (
          <p role="status" className="px-2 py-6 text-center text-sm text-ink-2">
            {isSearching
              ? "Searching…"
              : isFailed
                ? "Not everything could be searched."
                : isAll
                  ? "Nothing found."
                  : "Nothing found. Only the newest 200 of each kind are searched by name."}
          </p>
        )}
      </div>
    </>
  );
}
