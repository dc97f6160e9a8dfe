import { type ReactNode, useId } from "react";
import { Checkbox } from "../../../ui/form/inputs.tsx";

interface SwitchFieldProps {
  label: string;
  hint: ReactNode;
  issue: string | undefined;
  /** To the right of the label. */
  aside: ReactNode;
  isOn: boolean;
  onChange(isOn: boolean): void;
}

/** A checkbox with its label beside it. */
export function SwitchField({ label, hint, issue, aside, isOn, onChange }: SwitchFieldProps) {
  const noteId = useId();
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <div className="flex items-baseline justify-between gap-2">
        <Checkbox
          label={label}
          aria-describedby={noteId}
          aria-invalid={issue === undefined ? undefined : true}
          checked={isOn}
          onChange={({ target }) => onChange(target.checked)}
        />
        {aside}
      </div>
      <p
        id={noteId}
        className={issue === undefined ? "text-xs text-ink-3 empty:hidden" : "text-xs text-fail"}
      >
        {issue ?? hint}
      </p>
    </div>
  );
}
