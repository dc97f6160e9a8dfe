import { describeCapture } from "../../format/describe-capture.ts";
import { Field } from "../../ui/form/field.tsx";
import { Select } from "../../ui/form/inputs.tsx";

const settings = ["off", "failures", "0.01", "0.1", "all"];

interface CaptureFieldProps {
  /** Empty for the server's setting. */
  value: string;
  onChange(value: string): void;
}

/** Which predictions of a key are stored. A share that somebody set elsewhere stays selectable. */
export function CaptureField({ value, onChange }: CaptureFieldProps) {
  const offered = value === "" || settings.includes(value) ? settings : [...settings, value];
  return (
    <Field label="Stored predictions" hint="With their texts, for everyone in your account to read.">
      {(control) => (
        <Select {...control} value={value} onChange={({ target }) => onChange(target.value)}>
          <option value="">As the server is set</option>
          {offered.map((setting) => (
            <option key={setting} value={setting}>
              {capitalise(describeCapture(setting))}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
