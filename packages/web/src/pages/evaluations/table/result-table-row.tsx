import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { Children, type ReactNode } from "react";
import type { ResultRow } from "../../../data/evaluation-results.ts";
import { changeSearch } from "../explorer-search.ts";

interface ResultTableRowProps {
  row: ResultRow;
  /** From 0, without the header row. */
  index: number;
  isActive: boolean;
  isOpen: boolean;
  onOpen(id: string): void;
  children: ReactNode;
}

/** The whole row is clickable; the link in its first cell is for the keyboard and for new tabs. */
export function ResultTableRow({
  row: { id },
  index,
  isActive,
  isOpen,
  onOpen,
  children,
}: ResultTableRowProps) {
  return (
    <tr
      aria-rowindex={index + 2}
      onClick={(event) => {
        // Links handle themselves, and selecting text must not open the result.
        const isLink = event.target instanceof Element && event.target.closest("a") !== null;
        if (!isLink && getSelection()?.isCollapsed !== false) onOpen(id);
      }}
      className={clsx("group cursor-pointer", isOpen ? "bg-accent-soft" : "hover:bg-hover")}
    >
      {Children.map(children, (content, column) => (
        <td className="h-11 truncate border-b border-line px-3 text-ink-2 first:pl-4 max-md:px-2">
          {column === 0 ? (
            <Link
              from="/evaluations"
              search={(current) => changeSearch(current, { result: id })}
              resetScroll={false}
              preload={false}
              data-result={id}
              tabIndex={isActive ? 0 : -1}
              aria-current={isOpen ? "true" : undefined}
              className="-mx-1.5 inline-flex rounded-md px-1.5 py-1"
            >
              <span className="sr-only">Result {id}: </span>
              {content}
            </Link>
          ) : (
            content
          )}
        </td>
      ))}
    </tr>
  );
}
