import { clsx } from "clsx";
import type { LucideIcon } from "lucide-react";
import { RadioGroup, Switch as Radix } from "radix-ui";
import { useId } from "react";
import { type Period, periodLabels, periods } from "../../format/times.ts";

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
            "inline-flex h-6 items-center justify-center rounded px-2 phone:px-1.5 text-xs font-medium whitespace-nowrap transition-colors",
            option === value ? "bg-surface text-ink shadow-sm" : "text-ink-2 hover:text-ink",
          )}
        >
          {Icon === undefined ? label : <Icon className="size-3.5" aria-hidden />}
        </RadioGroup.Item>
      ))}
    </RadioGroup.Root>
  );
}

const options = periods.map((period) => ({ value: period, label: periodLabels[period] }));

export function PeriodPicker({ value, onChange }: { value: Period; onChange(period: Period): void }) {
  return <Segmented label="Period" value={value} options={options} onChange={onChange} />;
}

interface SwitchProps {
  label: string;
  isOn: boolean;
  onChange(isOn: boolean): void;
}

export function Switch({ label, isOn, onChange }: SwitchProps) {
  const id = useId();
  return (
    <span className="inline-flex h-8.5 items-center gap-2 text-sm text-ink-2">
      <Radix.Root
        id={id}
        checked={isOn}
        onCheckedChange={onChange}
        className="inline-flex h-5 w-9 shrink-0 items-center rounded-full border border-line-strong bg-sunken px-0.5 transition-colors data-[state=checked]:border-accent data-[state=checked]:bg-accent"
      >
        <Radix.Thumb className="size-3.5 rounded-full bg-ink-3 transition-transform data-[state=checked]:translate-x-4 data-[state=checked]:bg-on-accent" />
      </Radix.Root>
      <label htmlFor={id} className="cursor-pointer">
        {label}
      </label>
    </span>
  );
}
