import { Field } from "./field.tsx";
import { TextInput } from "./inputs.tsx";

interface TextFieldProps {
  label: string;
  hint?: string | undefined;
  issue: string | undefined;
  value: string;
  onChange(value: string): void;
  isRequired?: boolean;
}

/** A field of one line of text. */
export function TextField({ label, hint, issue, value, onChange, isRequired = false }: TextFieldProps) {
  return (
    <Field label={label} hint={hint} issue={issue}>
      {(control) => (
        <TextInput
          {...control}
          value={value}
          onChange={({ target }) => onChange(target.value)}
          required={isRequired}
        />
      )}
    </Field>
  );
}
