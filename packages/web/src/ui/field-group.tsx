import { type ReactNode, useId } from "react";

interface FieldGroupProps {
  label: ReactNode;
  hint?: ReactNode;
  fault?: string | undefined;
  /** On the right of the label. */
  aside?: ReactNode;
  children: ReactNode;
}

/** A field of several controls: its label and its hint are those of the whole. */
export function FieldGroup({ label, hint, fault, aside, children }: FieldGroupProps) {
  const noteId = useId();
  const hasNote = hint !== undefined || fault !== undefined;
  return (
    <fieldset aria-describedby={hasNote ? noteId : undefined} className="flex min-w-0 flex-col gap-1">
      <legend className="float-left w-full">
        <span className="flex items-baseline justify-between gap-2 text-sm font-medium">
          {label}
          {aside}
        </span>
      </legend>
      {children}
      {hasNote && (
        <p
          id={noteId}
          role={fault === undefined ? undefined : "alert"}
          className={fault === undefined ? "text-xs text-ink-3" : "text-xs text-fail"}
        >
          {fault ?? hint}
        </p>
      )}
    </fieldset>
  );
}
