import { clsx } from "clsx";
import { Tabs as Radix } from "radix-ui";
import type { ReactNode } from "react";

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
  return (
    <Radix.Root
      value={value}
      onValueChange={(next) => onChange(next as Value)}
      className="flex min-h-0 min-w-0 flex-col"
    >
      <Radix.List
        aria-label={label}
        className="flex shrink-0 gap-4 overflow-x-auto overflow-y-hidden border-b border-line px-4"
      >
        {tabs.map(({ value, label }) => (
          <Radix.Trigger
            key={value}
            value={value}
            className="-mx-1 -mb-px border-b-2 border-transparent px-1 py-2 text-sm font-medium whitespace-nowrap text-ink-2 -outline-offset-2 hover:text-ink data-[state=active]:border-accent data-[state=active]:text-ink"
          >
            {label}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map(({ value, content }) => (
        <Radix.Content
          key={value}
          value={value}
          className={clsx("min-h-0 min-w-0 -outline-offset-2", isFull && "flex-1 overflow-y-auto")}
        >
          {content}
        </Radix.Content>
      ))}
    </Radix.Root>
  );
}
