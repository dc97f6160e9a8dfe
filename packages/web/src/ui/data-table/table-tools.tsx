import { DropdownMenu } from "radix-ui";
import { ExportMenu } from "../export-menu.tsx";
import { MenuCheck, MenuItem } from "../menu.tsx";
import { useNarrow } from "../screen.ts";
import type { DataTableModel } from "./table-model.ts";

/** Choosing columns, and taking the rows that are loaded elsewhere. */
export function TableTools<Row>({ table }: { table: DataTableModel<Row> }) {
  const { columns, label, shownColumns, sortedRows, view } = table;
  const shown = shownColumns.map(({ id }) => id);
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
      table={() => ({
        columns: shownColumns.filter(({ isActions = false, value }) => !isActions && value !== undefined),
        rows: sortedRows.map(({ row }) => row),
      })}
    >
      {useNarrow() && (
        <>
          <DropdownMenu.Separator className="my-1 border-t border-line" />
          <DropdownMenu.Label className="px-2 py-1 text-xs text-ink-3">Sort by</DropdownMenu.Label>
          {shownColumns.filter(table.isSortable).map((column) => (
            <MenuCheck
              key={column.id}
              isOn={view.sort?.id === column.id}
              onChange={() => table.toggleSort(column)}
            >
              {column.label}
            </MenuCheck>
          ))}
        </>
      )}
      {choices.length > 0 && (
        <>
          <DropdownMenu.Separator className="my-1 border-t border-line" />
          <DropdownMenu.Label className="px-2 py-1 text-xs text-ink-3">Columns</DropdownMenu.Label>
          {choices.map(({ id, label: name }) => (
            <MenuCheck key={id} isOn={shown.includes(id)} onChange={() => toggle(id)}>
              {name}
            </MenuCheck>
          ))}
        </>
      )}
      {view.hasOwnColumns && <MenuItem onSelect={() => view.changeColumns(undefined)}>As at first</MenuItem>}
    </ExportMenu>
  );
}
