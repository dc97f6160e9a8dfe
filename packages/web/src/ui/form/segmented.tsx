import { clsx } from "clsx";
import type { LucideIcon } from "lucide-react";
import { RadioGroup } from "radix-ui";

interface SegmentedProps<Value extends string> {
  label: string;
  value: Value;
  /** With an icon, the label is for screen readers only. */
  options: readonly { value: Value; label: string; icon?: LucideIcon }[];
  onChange(value: Value): void;
}

/** A choice between a few visible options. */
export function Segmented<Value extends string>({ label, value, options, onChange }: SegmentedProps<Value>) {
  return (
    <RadioGroup.Root
      aria-label={label}
      orientation="horizontal"
      value={value}
      onValueChange={(next) => onChange(next as Value)}
      className="inline-flex rounded-md border border-line bg-sunken p-0.5"
    >
      {options.map(({ value: option, label, icon: Icon }) => (
        <RadioGroup.Item
          key={option}
          value={option}
          title={Icon === undefined ? undefined : label}
          aria-label={label}
          className={clsx(
            "inline-flex h-6 items-center justify-center rounded px-2 text-xs font-medium whitespace-nowrap transition-colors",
            option === value ? "bg-surface text-ink shadow-sm" : "text-ink-2 hover:text-ink",
          )}
        >
          {Icon === undefined ? label : <Icon className="size-3.5" aria-hidden />}
        </RadioGroup.Item>
      ))}
    </RadioGroup.Root>
  );
}
