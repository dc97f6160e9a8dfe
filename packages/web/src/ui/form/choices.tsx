import { useId } from "react";
import { type Period, periodLabels, periods } from "../../format/times.ts";

interface SegmentedProps<Value extends string> {
  label: string;
  value: Value;
  options: readonly { value: Value; label: string }[];
  onChange(value: Value): void;
}

/** A choice between a few visible options. */
export function Segmented<Value extends string>({ label, value, options, onChange }: SegmentedProps<Value>) {
  const name = useId();
  return (
    <span
      role="radiogroup"
      aria-label={label}
      className="inline-flex flex-wrap rounded-md border border-line bg-sunken p-0.5"
    >
      {options.map(({ value: option, label }) => (
        <label
          key={option}
          className="relative inline-flex h-6 cursor-pointer items-center justify-center rounded px-2 phone:px-1.5 text-xs font-medium whitespace-nowrap text-ink-2 outline-offset-2 transition-colors hover:text-ink has-checked:bg-surface dark:has-checked:bg-line-strong has-checked:text-ink has-checked:shadow-sm has-focus-visible:outline-2 has-focus-visible:outline-accent"
        >
          <input
            type="radio"
            name={name}
            aria-label={label}
            aria-checked={option === value}
            checked={option === value}
            onChange={() => onChange(option)}
            className="absolute inset-0 cursor-pointer appearance-none outline-none"
          />
          {label}
        </label>
      ))}
    </span>
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
  return (
    <label className="inline-flex h-8.5 cursor-pointer items-center gap-2 text-sm text-ink-2">
      <input
        type="checkbox"
        role="switch"
        aria-checked={isOn}
        checked={isOn}
        onChange={({ target }) => onChange(target.checked)}
        className="inline-flex h-5 w-9 shrink-0 cursor-pointer appearance-none items-center rounded-full border border-line-strong bg-sunken px-0.5 transition-colors before:size-3.5 before:rounded-full before:bg-ink-3 before:transition-transform checked:border-accent checked:bg-accent checked:before:translate-x-4 checked:before:bg-on-accent"
      />
      {label}
    </label>
  );
}
