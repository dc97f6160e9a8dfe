import { clsx } from "clsx";
import type { ReactNode } from "react";

/** A table in a scroll area of its own, which the keyboard reaches. */
export function Table({
  label,
  className,
  children,
}: {
  label: string;
  className?: string;
  children: ReactNode;
}) {
  return (
    // What scrolls must be reachable by keyboard; it is positioned so that it holds what is only read out.
    <section aria-label={label} tabIndex={0} className="relative min-w-0 overflow-x-auto -outline-offset-2">
      <table className={clsx("w-full border-collapse text-sm", className)}>{children}</table>
    </section>
  );
}

interface CellProps {
  isNumber?: boolean;
  className?: string;
  children?: ReactNode;
}

export function HeaderCell({ isNumber = false, className, children }: CellProps) {
  return (
    <th
      scope="col"
      className={clsx(
        "px-4 py-2 text-xs font-medium whitespace-nowrap text-ink-3",
        isNumber ? "text-right" : "text-left",
        className,
      )}
    >
      {children}
    </th>
  );
}

export function Cell({ isNumber = false, className, children }: CellProps) {
  return (
    <td className={clsx("px-4 py-2 align-middle", isNumber && "text-right tabular-nums", className)}>
      {children}
    </td>
  );
}

/** The cell that a row is known by. */
export function RowHeader({ className, children }: CellProps) {
  return (
    <th scope="row" className={clsx("px-4 py-2 text-left font-normal", className)}>
      {children}
    </th>
  );
}
