import { formatCount } from "../../format/numbers.ts";
import { Select } from "./select.tsx";

interface ChoiceProps {
  label: string;
  /** What stands there while nothing is chosen. */
  any: string;
  value: string | undefined;
  /** One with a count shows it, and is left out while that is 0. */
  options: readonly { value: string; label: string; count?: number }[];
  onChange(value: string | undefined): void;
}

/** A filter: one value of a few, or any. */
export function Choice({ label, any, value, options, onChange }: ChoiceProps) {
  const shown = options.filter((option) => option.count !== 0 || option.value === value);
  const isKnown = value === undefined || shown.some((option) => option.value === value);
  return (
    <Select
      aria-label={label}
      className="max-w-36"
      value={value ?? ""}
      options={[
        { value: "", label: any },
        ...(isKnown ? [] : [value]),
        ...shown.map(({ value, label, count }) => ({
          value,
          label: count === undefined ? label : `${label} · ${formatCount(count)}`,
        })),
      ]}
      onChange={(chosen) => onChange(chosen || undefined)}
    />
  );
}
