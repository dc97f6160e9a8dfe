import { type ReactNode, useId } from "react";
import { FieldNote, hasNote, type Note } from "./field-note.tsx";

/** What a control needs of its field, so that label, hint and fault are read out with it. */
export interface FieldControl {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": true | undefined;
}

interface FieldProps extends Note {
  label: ReactNode;
  /** On the right of the label. */
  aside?: ReactNode;
  children(control: FieldControl): ReactNode;
}

export function Field({ label, hint, fault, aside, children }: FieldProps) {
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
        "aria-describedby": hasNote({ hint, fault }) ? noteId : undefined,
        "aria-invalid": fault === undefined ? undefined : true,
      })}
      <FieldNote id={noteId} hint={hint} fault={fault} />
    </div>
  );
}
