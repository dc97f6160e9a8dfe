import type { SelectHTMLAttributes } from "react";
import { Select } from "../../../ui/form/inputs.tsx";

export interface FilterSelectProps
  extends Omit<SelectHTMLAttributes<HTMLSelectElement>, "value" | "onChange" | "onSelect" | "children"> {
  /** The label of no choice, for example “Any app”. */
  anyLabel: string;
  value: string | undefined;
  options: readonly (string | { value: string; label: string })[];
  onSelect(value: string | undefined): void;
}

export function FilterSelect({ anyLabel, value, options, onSelect, ...rest }: FilterSelectProps) {
  return (
    <Select {...rest} value={value ?? ""} onChange={(event) => onSelect(event.target.value || undefined)}>
      <option value="">{anyLabel}</option>
      {options.map((option) => {
        const { value, label } = typeof option === "string" ? { value: option, label: option } : option;
        return (
          <option key={value} value={value}>
            {label}
          </option>
        );
      })}
    </Select>
  );
}
