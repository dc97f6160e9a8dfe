import { describeCapture } from "../../format/describe-capture.ts";
import { SelectField } from "../../ui/form/select.tsx";

const settings = ["off", "failures", "0.01", "0.1", "all"];

interface CaptureFieldProps {
  /** Empty for the server's setting. */
  value: string;
  onChange(value: string): void;
}

/** Which predictions of a key are stored. A share that was set elsewhere stays selectable. */
export function CaptureField({ value, onChange }: CaptureFieldProps) {
  const offered = value === "" || settings.includes(value) ? settings : [...settings, value];
  return (
    <SelectField
      label="Stored predictions"
      hint="With their texts, readable by everyone in your account."
      value={value}
      options={[
        { value: "", label: "As the server is set" },
        ...offered.map((setting) => ({ value: setting, label: capitalise(describeCapture(setting)) })),
      ]}
      onChange={onChange}
    />
  );
}

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
