import { TextField } from "../../ui/form/text-field.tsx";
import type { LimitIssues, LimitsForm } from "./read-limits.ts";

const fields = [
  { name: "rate_limit_rpm", label: "Requests per minute" },
  { name: "max_in_flight", label: "Requests at once" },
] as const;

interface LimitFieldsProps {
  form: LimitsForm;
  issues: LimitIssues;
  onChange(part: Partial<LimitsForm>): void;
}

/** Side by side. */
export function LimitFields({ form, issues, onChange }: LimitFieldsProps) {
  return (
    <div className="grid grid-cols-2 gap-3">
      {fields.map(({ name, label }) => (
        <TextField
          key={name}
          label={label}
          hint="If empty, the server’s limit applies."
          issue={issues[name]}
          inputMode="numeric"
          className="tabular-nums"
          value={form[name]}
          onChange={(text) => onChange({ [name]: text })}
        />
      ))}
    </div>
  );
}
