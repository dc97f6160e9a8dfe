import { clsx } from "clsx";
import { type KeyboardEvent, type ReactNode, useId } from "react";

interface TabsProps<Value extends string> {
  label: string;
  value: Value;
  onChange(value: Value): void;
  /** The panels scroll inside; the tabs stay visible. */
  isFull?: boolean;
  tabs: readonly { value: Value; label: ReactNode; content: ReactNode }[];
}

export function Tabs<Value extends string>({
  label,
  value,
  onChange,
  isFull = false,
  tabs,
}: TabsProps<Value>) {
  const id = useId();
  const shown = tabs.find((tab) => tab.value === value);

  function move(event: KeyboardEvent<HTMLElement>) {
    const at = tabs.findIndex((tab) => tab.value === value);
    const steps = { ArrowLeft: at - 1, ArrowRight: (at + 1) % tabs.length, Home: 0, End: -1 };
    const next = tabs.at(steps[event.key as keyof typeof steps] ?? Number.POSITIVE_INFINITY);
    if (next === undefined) return;
    event.preventDefault();
    event.currentTarget.querySelector<HTMLElement>(`[id="${CSS.escape(`${id}${next.value}`)}"]`)?.focus();
    onChange(next.value);
  }

  return (
    <div className="flex min-h-0 min-w-0 flex-col">
      <div
        role="tablist"
        aria-label={label}
        onKeyDown={move}
        className="flex shrink-0 gap-3 sm:gap-4 overflow-x-auto overflow-y-hidden border-b border-line px-4"
      >
        {tabs.map((tab) => (
          <button
            key={tab.value}
            type="button"
            role="tab"
            id={id + tab.value}
            aria-selected={tab === shown}
            aria-controls={tab === shown ? `${id}panel` : undefined}
            tabIndex={tab === shown ? 0 : -1}
            onClick={() => onChange(tab.value)}
            className="-mx-1 -mb-px border-b-2 border-transparent px-1 py-2 text-sm font-medium whitespace-nowrap text-ink-2 -outline-offset-2 hover:text-ink aria-selected:border-accent aria-selected:text-ink"
          >
            {tab.label}
          </button>
        ))}
      </div>
      {shown && (
        <div
          key={shown.value}
          role="tabpanel"
          id={`${id}panel`}
          aria-labelledby={id + shown.value}
          tabIndex={0}
          className={clsx("min-h-0 min-w-0 -outline-offset-2", isFull && "flex-1 overflow-y-auto")}
        >
          {shown.content}
        </div>
      )}
    </div>
  );
}
