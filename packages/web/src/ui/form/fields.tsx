// Controls with a label, a hint and an issue with their value.

import { type ComponentProps, type ReactNode, useId } from "react";
import { TextArea, TextInput } from "./inputs.tsx";
import { Select, type SelectProps } from "./select.tsx";

interface LabelledText {
  label: ReactNode;
  hint?: ReactNode;
  issue?: string | undefined;
  /** To the right of the label. */
  aside?: ReactNode;
  value: string;
  onChange(value: string): void;
}

type Labelled<Props> = Omit<Props, keyof LabelledText> & LabelledText;

/** A line of text with its label. */
export function TextField({
  label,
  hint,
  issue,
  aside,
  onChange,
  ...rest
}: Labelled<ComponentProps<"input">>) {
  return (
    <Field label={label} hint={hint} issue={issue} aside={aside}>
      {(control) => <TextInput {...rest} {...control} onChange={({ target }) => onChange(target.value)} />}
    </Field>
  );
}

/** Text of several lines with its label. */
export function TextAreaField({
  label,
  hint,
  issue,
  aside,
  onChange,
  ...rest
}: Labelled<ComponentProps<"textarea">>) {
  return (
    <Field label={label} hint={hint} issue={issue} aside={aside}>
      {(control) => <TextArea {...rest} {...control} onChange={({ target }) => onChange(target.value)} />}
    </Field>
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

/** Attributes that link a control to its label, hint and issue for screen readers. */
export interface FieldControl {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": true | undefined;
}

interface FieldProps extends Note {
  label: ReactNode;
  /** To the right of the label. */
  aside?: ReactNode;
  children(control: FieldControl): ReactNode;
}

export function Field({ label, hint, issue, aside, children }: FieldProps) {
  const id = useId();
  const noteId = `${id}-note`;
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <div className="flex items-baseline justify-between gap-2">
        <label htmlFor={id} className="text-sm font-medium">
          {label}
        </label>
        {aside}
      </div>
      {children({
        id,
        "aria-describedby": hasNote({ hint, issue }) ? noteId : undefined,
        "aria-invalid": issue === undefined ? undefined : true,
      })}
      <FieldNote id={noteId} hint={hint} issue={issue} />
    </div>
  );
}

interface FieldGroupProps extends Note {
  label: ReactNode;
  /** To the right of the label. */
  aside?: ReactNode;
  children: ReactNode;
}

/** A field of several controls with one label and hint. */
export function FieldGroup({ label, hint, issue, aside, children }: FieldGroupProps) {
  const noteId = useId();
  return (
    <fieldset
      aria-describedby={hasNote({ hint, issue }) ? noteId : undefined}
      className="flex min-w-0 flex-col gap-1"
    >
      <legend className="float-left w-full">
        <span className="flex items-baseline justify-between gap-2 text-sm font-medium">
          {label}
          {aside}
        </span>
      </legend>
      {children}
      <FieldNote id={noteId} hint={hint} issue={issue} />
    </fieldset>
  );
}

interface Note {
  hint?: ReactNode;
  /** Replaces the hint. */
  issue?: string | undefined;
}

function hasNote({ hint, issue }: Note): boolean {
  return hint !== undefined || issue !== undefined;
}

/** The line below a field: its hint or issue. */
function FieldNote({ id, hint, issue }: Note & { id: string }) {
  if (issue !== undefined) {
    return (
      <p id={id} role="alert" className="text-xs text-fail">
        {issue}
      </p>
    );
  }
  if (hint === undefined) return null;
  return (
    <p id={id} className="text-xs text-ink-3">
      {hint}
    </p>
  );
}
