import { clsx } from "clsx";
import { ChevronDown } from "lucide-react";
import type { ReactNode, SelectHTMLAttributes } from "react";
import { Field } from "./field.tsx";
import { controlLook } from "./inputs.tsx";

type NativeProps = Omit<SelectHTMLAttributes<HTMLSelectElement>, "value" | "onChange" | "children">;

interface SelectProps<Value extends string> extends NativeProps {
  value: Value;
  /** A bare value is its own label. */
  options: readonly (Value | { value: Value; label: string })[];
  onChange(value: Value): void;
}

/** The native select: it works with every keyboard, screen reader and phone. */
export function Select<Value extends string>({ className, options, onChange, ...rest }: SelectProps<Value>) {
  return (
    <span className={clsx("relative inline-flex min-w-0", className)}>
      <select
        {...rest}
        onChange={({ target }) => onChange(target.value as Value)}
        className={clsx(controlLook, "h-8.5 appearance-none truncate pr-7 pl-2.5")}
      >
        {options.map((option) => {
          const { value, label } = typeof option === "string" ? { value: option, label: option } : option;
          return (
            <option key={value} value={value}>
              {label}
            </option>
          );
        })}
      </select>
      <ChevronDown
        className="pointer-events-none absolute top-1/2 right-2 size-4 -translate-y-1/2 text-ink-3"
        aria-hidden
      />
    </span>
  );
}

interface SelectFieldProps<Value extends string> extends SelectProps<Value> {
  label: ReactNode;
  hint?: ReactNode;
  issue?: string | undefined;
}

/** A select with its label. */
export function SelectField<Value extends string>({ label, hint, issue, ...rest }: SelectFieldProps<Value>) {
  return (
    <Field label={label} hint={hint} issue={issue}>
      {(control) => <Select {...rest} {...control} />}
    </Field>
  );
}
