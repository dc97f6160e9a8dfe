import type { ReactNode } from "react";
import { counted } from "../../format/numbers.ts";
import { ExportMenu } from "../export-menu.tsx";
import { MenuCheck, MenuItem, MenuSection } from "../menu.tsx";
import { useNarrow } from "../screen.ts";
import type { DataTableModel } from "./table-model.ts";

interface TableToolsProps<Row> {
  table: DataTableModel<Row>;
  /** Whether there are more rows than are loaded. */
  hasMore?: boolean;
  /** More choices, above the choice of columns. */
  children?: ReactNode;
}

/** Lets the user choose columns, and copy or save the rows that are loaded. */
export function TableTools<Row>({ table, hasMore = false, children }: TableToolsProps<Row>) {
  const { columns, label, shownColumns, sortedRows, view } = table;
  // Not the drawn columns: they lag behind, and the next change may come before they are updated.
  const shown = view.columnIds;
  const toggle = (id: string) =>
    view.changeColumns(
      columns
        .map((column) => column.id)
        .filter((other) => (other === id ? !shown.includes(id) : shown.includes(other))),
    );
  const choices = columns.filter(({ isFixed = false, isActions = false }) => !isFixed && !isActions);
  return (
    <ExportMenu
      label={label}
      {...(hasMore && { rows: `the ${counted(sortedRows.length, "loaded row")} ` })}
      table={() => ({
        columns: shownColumns.filter(({ isActions = false, value }) => !isActions && value !== undefined),
        rows: sortedRows.map(({ row }) => row),
      })}
    >
      {children}
      {useNarrow() && (
        <MenuSection title="Sort by">
          {shownColumns.filter(table.isSortable).map((column) => (
            <MenuCheck
              key={column.id}
              isOn={view.sort?.id === column.id}
              onChange={() => table.toggleSort(column)}
            >
              {column.label}
            </MenuCheck>
          ))}
        </MenuSection>
      )}
      {choices.length > 0 && (
        <MenuSection title="Columns">
          {choices.map(({ id, label: name }) => (
            <MenuCheck key={id} isOn={shown.includes(id)} onChange={() => toggle(id)}>
              {name}
            </MenuCheck>
          ))}
        </MenuSection>
      )}
      {view.hasOwnColumns && <MenuItem onSelect={() => view.changeColumns(undefined)}>As at first</MenuItem>}
    </ExportMenu>
  );
}
