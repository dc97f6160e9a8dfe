import { type ReactNode, useId } from "react";

/** What a control needs of its field, so that label, hint and fault are read out with it. */
export interface FieldControl {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": true | undefined;
}

interface FieldProps {
  label: ReactNode;
  hint?: ReactNode;
  /** What is wrong with what was typed. */
  fault?: string | undefined;
  /** On the right of the label. */
  aside?: ReactNode;
  children(control: FieldControl): ReactNode;
}

export function Field({ label, hint, fault, aside, children }: FieldProps) {
  const id = useId();
  const noteId = `${id}-note`;
  const hasNote = hint !== undefined || fault !== undefined;
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
        "aria-describedby": hasNote ? noteId : undefined,
        "aria-invalid": fault === undefined ? undefined : true,
      })}
      {hasNote && (
        <p
          id={noteId}
          role={fault === undefined ? undefined : "alert"}
          className={fault === undefined ? "text-xs text-ink-3" : "text-xs text-fail"}
        >
          {fault ?? hint}
        </p>
      )}
    </div>
  );
}
