import type { ComponentProps, ReactNode } from "react";
import { Field } from "./field.tsx";
import { TextArea, TextInput } from "./inputs.tsx";

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
