import { type ReactNode, useId } from "react";
import { FieldNote, hasNote, type Note } from "./field-note.tsx";

interface FieldGroupProps extends Note {
  label: ReactNode;
  /** On the right of the label. */
  aside?: ReactNode;
  children: ReactNode;
}

/** A field of several controls: its label and its hint are those of the whole. */
export function FieldGroup({ label, hint, fault, aside, children }: FieldGroupProps) {
  const noteId = useId();
  return (
    <fieldset
      aria-describedby={hasNote({ hint, fault }) ? noteId : undefined}
      className="flex min-w-0 flex-col gap-1"
    >
      <legend className="float-left w-full">
        <span className="flex items-baseline justify-between gap-2 text-sm font-medium">
          {label}
          {aside}
        </span>
      </legend>
      {children}
      <FieldNote id={noteId} hint={hint} fault={fault} />
    </fieldset>
  );
}
