import { clsx } from "clsx";
import type { ReactNode } from "react";
import { ScrollRegion } from "./page.tsx";

/** A table that scrolls sideways by itself. */
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
    // Relative: texts for screen readers only are positioned inside it.
    <ScrollRegion label={label} className="scroll-edges-x relative min-w-0 overflow-x-auto -outline-offset-2">
      <table className={clsx("w-full border-collapse text-sm", className)}>{children}</table>
    </ScrollRegion>
  );
}

interface CellProps {
  isNumber?: boolean;
  className?: string | undefined;
  children?: ReactNode;
}

export function HeaderCell({ isNumber = false, className, children }: CellProps) {
  return (
    <th
      scope="col"
      className={clsx(
        "px-2 py-2 first:pl-4 last:pr-4 sm:px-4 text-xs font-medium whitespace-nowrap text-ink-3",
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
    <td
      className={clsx(
        "px-2 py-2 align-middle first:pl-4 last:pr-4 sm:px-4",
        isNumber && "text-right tabular-nums",
        className,
      )}
    >
      {children}
    </td>
  );
}

export function RowHeader({ className, children }: Omit<CellProps, "isNumber">) {
  return (
    <th scope="row" className={clsx("px-2 py-2 text-left font-normal first:pl-4 sm:px-4", className)}>
      {children}
    </th>
  );
}
