import { clsx } from "clsx";
import { ChevronDown } from "lucide-react";
import { type SelectHTMLAttributes, use } from "react";
import { formatCount } from "../../format/numbers.ts";
import { ControlTabIndex } from "../tooltip.tsx";
import { controlLook } from "./inputs.tsx";

type NativeProps = Omit<SelectHTMLAttributes<HTMLSelectElement>, "value" | "onChange" | "children">;

export interface SelectProps<Value extends string> extends NativeProps {
  value: Value;
  /** A plain value is its own label. */
  options: readonly (Value | { value: Value; label: string })[];
  onChange(value: Value): void;
}

/** A native select works with every keyboard, screen reader and phone. A value without an option is shown too: it is what is sent. */
export function Select<Value extends string>({ className, options, onChange, ...rest }: SelectProps<Value>) {
  const listed = options.map((option) =>
    typeof option === "string" ? { value: option, label: option } : option,
  );
  const isListed = listed.some(({ value }) => value === rest.value);
  return (
    <span className={clsx("relative inline-flex min-w-0", className)}>
      <select
        tabIndex={use(ControlTabIndex)}
        {...rest}
        onChange={({ target }) => onChange(target.value as Value)}
        className={clsx(controlLook, "h-8.5 appearance-none truncate pr-7 pl-2.5")}
      >
        {!isListed && <option value={rest.value}>{rest.value}</option>}
        {listed.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      <ChevronDown
        className="pointer-events-none absolute top-1/2 right-2 size-4 -translate-y-1/2 text-ink-3"
        aria-hidden
      />
    </span>
  );
}

interface ChoiceProps {
  label: string;
  /** The text while nothing is chosen. */
  any: string;
  value: string | undefined;
  /** An option with a count shows it, and is left out if it is 0. */
  options: readonly { value: string; label: string; count?: number }[];
  onChange(value: string | undefined): void;
}

/** A filter: one of a few values, or any. */
export function Choice({ label, any, value, options, onChange }: ChoiceProps) {
  const shown = options.filter((option) => option.count !== 0 || option.value === value);
  return (
    <Select
      aria-label={label}
      className="max-w-36"
      value={value ?? ""}
      options={[
        { value: "", label: any },
        ...shown.map(({ value, label, count }) => ({
          value,
          label: count === undefined ? label : `${label} · ${formatCount(count)}`,
        })),
      ]}
      onChange={(chosen) => onChange(chosen || undefined)}
    />
  );
}

interface RevisionSelectProps {
  label: string;
  /** Newest first. `note` is shown after the number. */
  revisions: readonly { revision: number; note?: string }[];
  newest: number;
  value: number;
  onChange(revision: number): void;
}

export function RevisionSelect({ label, revisions, newest, value, onChange }: RevisionSelectProps) {
  return (
    <Select
      aria-label={label}
      className="max-w-52"
      value={String(value)}
      options={revisions.map(({ revision, note }) => ({
        value: String(revision),
        label: [String(revision), revision === newest && "newest", note].filter(Boolean).join(" · "),
      }))}
      onChange={(revision) => onChange(Number(revision))}
    />
  );
}

interface ValueListProps {
  id: string;
  options: readonly { value: string; label?: string | undefined }[];
}

/** Browsers render all options, however many. */
const maxOptions = 300;

/** The suggestions of an input with `list={id}`. Anything else may be typed as well. */
export function ValueList({ id, options }: ValueListProps) {
  return (
    <datalist id={id}>
      {options.slice(0, maxOptions).map(({ value, label }) => (
        <option key={value} value={value} {...(label !== undefined && { label })} />
      ))}
    </datalist>
  );
}
