import { clsx } from "clsx";
import { type ReactNode, useEffect, useRef } from "react";
import type { Copied } from "./data-table/columns.ts";
import { ExportMenu } from "./export-menu.tsx";
import { ScrollRegion } from "./page.tsx";
import { usePrinting } from "./screen.ts";

/** A table that scrolls sideways by itself. Its menu appears on hover or focus. */
export function Table({
  label,
  isStacked = false,
  className,
  children,
}: {
  label: string;
  /** On a phone, each row's cells are stacked below its name. */
  isStacked?: boolean;
  className?: string;
  children: ReactNode;
}) {
  const table = useRef<HTMLTableElement>(null);
  const isPrinting = usePrinting();
  useEffect(() => {
    if (isStacked) labelCells(table.current);
  });
  return (
    // Relative, because texts for screen readers are positioned inside it.
    <div className="group/table relative min-w-0">
      <ScrollRegion
        label={label}
        className="scroll-edges-x relative min-w-0 overflow-x-auto -outline-offset-2"
      >
        <table
          ref={table}
          className={clsx("w-full border-collapse text-sm", isStacked && !isPrinting && "stacks", className)}
        >
          {children}
        </table>
      </ScrollRegion>
      <span className="absolute top-1 right-1 rounded-md bg-surface opacity-0 group-hover/table:opacity-100 focus-within:opacity-100 has-data-[state=open]:opacity-100 max-sm:hidden">
        <ExportMenu label={label} table={() => shownTable(table.current)} />
      </span>
    </div>
  );
}

/** Gives each cell the name of its column, for a phone to show. */
function labelCells(table: HTMLTableElement | null): void {
  const names = [...(table?.querySelectorAll("thead th") ?? [])].map(
    (cell) => cell.getAttribute("abbr") ?? cell.textContent ?? "",
  );
  for (const cell of table?.querySelectorAll<HTMLTableCellElement>("tbody td") ?? [])
    cell.dataset.label = names[cell.cellIndex] ?? "";
}

/** The cells of a table as they are shown, without columns that contain only drawings. */
function shownTable(table: HTMLTableElement | null): Copied<string[]> {
  const all = [...(table?.rows ?? [])].map((row) => [...row.cells].map(textOf));
  const isRead = (_: string, index: number) => all.slice(1).some((cells) => (cells[index] ?? "") !== "");
  const [head = [], ...rows] = all.map((cells) => cells.filter(isRead));
  return { columns: head.map((label, index) => ({ label, value: (row) => row[index] })), rows };
}

/** The texts of a cell, without those of drawings. */
function textOf(cell: Element): string {
  const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  const texts: string[] = [];
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    if (node.parentElement?.closest("svg, [aria-hidden=true]") == null)
      texts.push(node.textContent?.trim() ?? "");
  }
  return texts.filter(Boolean).join(" ");
}

interface CellProps {
  isNumber?: boolean;
  className?: string | undefined;
  children?: ReactNode;
}

/** `short` is the name that stacked cells show. */
export function HeaderCell({ isNumber = false, short, className, children }: CellProps & { short?: string }) {
  return (
    <th
      scope="col"
      abbr={short}
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
