import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import type { MouseEvent, ReactNode } from "react";
import { formatCount } from "../../format/numbers.ts";
import { Time } from "../time.tsx";
import { ControlTabIndex } from "../tooltip.tsx";
import type { DataColumn } from "./columns.ts";
import type { DataTableModel } from "./table-model.ts";

interface DataRowProps<Row> {
  table: DataTableModel<Row>;
  id: string;
  row: Row;
  /** From 0; only where not all rows are rendered. */
  index?: number;
  measure?(row: HTMLTableRowElement | null): void;
}

const cellClass =
  "h-10 truncate border-b border-line group-last:border-b-0 px-3 py-1.5 text-left font-normal first:pl-4 last:pr-4 print:h-auto print:wrap-anywhere";

/** The whole row can be clicked; the link in its first cell is for the keyboard and for new tabs. Tab stops at one row only. */
export function DataRow<Row>({ table, id, row, index, measure }: DataRowProps<Row>) {
  const { activeId, hasDrawer = false, link, openId, selection, shownColumns } = table;
  const isOpen = id === openId;
  const isActive = id === activeId;
  const isSelected = selection?.ids.includes(id) === true;
  const name = table.rowName(row);
  const tabIndex = isActive ? 0 : -1;
  const named = shownColumns.findIndex(({ isActions = false }) => !isActions);
  return (
    <tr
      ref={measure}
      data-row={id}
      {...(index !== undefined && { "data-index": index, "aria-rowindex": index + 2 })}
      {...(link === undefined && { tabIndex })}
      onFocus={() => table.activate(id)}
      {...(link !== undefined && { onClick: followLink })}
      className={clsx(
        "group scroll-mt-10 -outline-offset-2",
        link !== undefined && "cursor-pointer",
        isOpen || isSelected ? "bg-accent-soft" : "hover:bg-hover",
      )}
    >
      {selection !== undefined && (
        <td className={cellClass}>
          <input
            type="checkbox"
            aria-label={`Select ${name}`}
            checked={isSelected}
            disabled={!table.canSelect(id)}
            tabIndex={-1}
            onChange={() => table.toggleSelected(id)}
            className="block size-4 accent-accent"
          />
        </td>
      )}
      {shownColumns.map((column, position) => {
        const content = <ControlTabIndex value={-1}>{contentOf(column, row)}</ControlTabIndex>;
        if (position !== named) {
          return (
            <td
              key={column.id}
              {...(column.isActions !== true && column.isPlain !== true && { "data-label": column.label })}
              data-empty={column.value !== undefined && (column.value(row) ?? "") === "" ? "" : undefined}
              className={clsx(
                cellClass,
                column.isNumber && "text-right tabular-nums",
                column.isElastic && "wide",
                "text-ink-2",
              )}
            >
              {content}
            </td>
          );
        }
        return (
          <th
            key={column.id}
            scope="row"
            className={clsx(cellClass, column.isNumber && "text-right tabular-nums")}
          >
            {link === undefined ? (
              content
            ) : (
              <Link
                {...link(row)}
                // Moving between rows adds nothing to the browser's history, and the page stays where it is.
                {...(openId !== undefined && { replace: true })}
                {...(hasDrawer && { resetScroll: false })}
                preload={false}
                data-row-link=""
                tabIndex={tabIndex}
                aria-current={isOpen ? "true" : undefined}
                // A phone is too narrow for the names that tell rows apart, so names may have up to three lines there.
                className="-mx-1.5 block scroll-mt-10 truncate rounded-md px-1.5 py-1 -outline-offset-2 max-md:line-clamp-3 max-md:wrap-anywhere max-md:whitespace-normal"
              >
                {content}
              </Link>
            )}
          </th>
        );
      })}
    </tr>
  );
}

function contentOf<Row>({ cell, value, isNewestFirst }: DataColumn<Row>, row: Row): ReactNode {
  if (cell !== undefined) return cell(row);
  const shown = value?.(row);
  if (shown === null || shown === undefined) return <span className="text-ink-3">–</span>;
  if (typeof shown === "number") return formatCount(shown);
  return isNewestFirst ? <Time at={String(shown)} look="listed" /> : String(shown);
}

/** Controls handle themselves, and selecting text must not open the row. Modifier keys open a new tab, as on links. */
function followLink(event: MouseEvent<HTMLTableRowElement>): void {
  const { ctrlKey, currentTarget, metaKey, shiftKey, target } = event;
  const isControl = target instanceof Element && target.closest("a, button, input, label, select") !== null;
  if (isControl || getSelection()?.isCollapsed === false) return;
  currentTarget
    .querySelector("[data-row-link]")
    ?.dispatchEvent(
      new globalThis.MouseEvent("click", { bubbles: true, cancelable: true, ctrlKey, metaKey, shiftKey }),
    );
}
