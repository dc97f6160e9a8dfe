import type { ReactNode } from "react";

export interface Note {
  hint?: ReactNode;
  /** What is wrong with what was typed. It takes the hint's place. */
  fault?: string | undefined;
}

/** Whether there is something to say below a field. */
export function hasNote({ hint, fault }: Note): boolean {
  return hint !== undefined || fault !== undefined;
}

/** The line below a field: its hint, or what is wrong. */
export function FieldNote({ id, hint, fault }: Note & { id: string }) {
  if (!hasNote({ hint, fault })) return null;
  return fault === undefined ? (
    <p id={id} className="text-xs text-ink-3">
      {hint}
    </p>
  ) : (
    <p id={id} role="alert" className="text-xs text-fail">
      {fault}
    </p>
  );
}
