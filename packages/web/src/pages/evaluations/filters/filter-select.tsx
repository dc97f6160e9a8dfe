import type { ComponentProps } from "react";
import { Select } from "../../../ui/form/select.tsx";

export interface FilterSelectProps
  extends Omit<ComponentProps<typeof Select<string>>, "value" | "onChange" | "onSelect"> {
  /** The label of no choice, for example “Any app”. */
  anyLabel: string;
  value: string | undefined;
  onSelect(value: string | undefined): void;
}

export function FilterSelect({ anyLabel, value, options, onSelect, ...rest }: FilterSelectProps) {
  return (
    <Select
      {...rest}
      value={value ?? ""}
      options={[{ value: "", label: anyLabel }, ...options]}
      onChange={(chosen) => onSelect(chosen || undefined)}
    />
  );
}
