import { clsx } from "clsx";
import { ArrowDown, ArrowUp } from "lucide-react";
import { Hinted } from "../tooltip.tsx";
import type { DataColumn } from "./columns.ts";
import type { DataTableModel } from "./table-model.ts";

/** Stays in sight while the table scrolls. Arrow keys reach it from the first row. */
export function DataHeader<Row>({ table }: { table: DataTableModel<Row> }) {
  return (
    <thead>
      <tr>
        {table.selection !== undefined && (
          <th scope="col" className={headerClass}>
            <span className="sr-only">Selected</span>
          </th>
        )}
        {table.shownColumns.map((column) => (
          <HeaderCell key={column.id} table={table} column={column} />
        ))}
      </tr>
    </thead>
  );
}

const headerClass =
  "sticky top-0 z-10 h-9 border-b border-line bg-surface px-3 text-xs font-medium text-ink-3 first:pl-4 last:pr-4";

function HeaderCell<Row>({ table, column }: { table: DataTableModel<Row>; column: DataColumn<Row> }) {
  const { label, hint, isActions = false, isNumber = false } = column;
  const isSortable = table.isSortable(column);
  const sort = table.view.sort?.id === column.id ? table.view.sort : undefined;
  const direction = sort === undefined ? "none" : sort.isDescending ? "descending" : "ascending";
  const Arrow = sort?.isDescending === true ? ArrowDown : ArrowUp;
  return (
    <th
      scope="col"
      {...(isSortable && { "aria-sort": direction })}
      className={clsx(headerClass, isNumber ? "text-right" : "text-left")}
    >
      {isActions ? (
        <span className="sr-only">{label}</span>
      ) : (
        <Hinted text={hint}>
          {isSortable ? (
            <button
              type="button"
              tabIndex={-1}
              onClick={() => table.toggleSort(column)}
              className={clsx(
                "group/sort relative -mx-1.5 inline-block max-w-[calc(100%+0.75rem)] rounded px-1.5 py-1 hover:text-ink",
                isNumber ? "text-right" : "text-left",
                sort !== undefined && "text-ink",
              )}
            >
              <span className="line-clamp-3 leading-tight">{label}</span>
              <Arrow
                aria-hidden
                // The arrow is in the space between columns: inside, it would shorten every label.
                className={clsx(
                  "absolute top-1/2 size-3 -translate-y-1/2",
                  isNumber ? "right-[calc(100%-0.25rem)]" : "left-[calc(100%-0.25rem)]",
                  sort === undefined &&
                    "opacity-0 group-hover/sort:opacity-60 group-focus-visible/sort:opacity-60",
                )}
              />
            </button>
          ) : (
            <span tabIndex={hint === undefined ? undefined : -1} className="line-clamp-2 leading-tight">
              {label}
            </span>
          )}
        </Hinted>
      )}
    </th>
  );
}
