import { ExportMenu } from "../export-menu.tsx";
import { MenuCheck, MenuItem, MenuSection } from "../menu.tsx";
import { useNarrow } from "../screen.ts";
import type { DataTableModel } from "./table-model.ts";

/** Choosing columns, and taking the rows that are loaded elsewhere. */
export function TableTools<Row>({ table }: { table: DataTableModel<Row> }) {
  const { columns, label, shownColumns, sortedRows, view } = table;
  // Not those drawn: they come a moment later, and the next change may be made before.
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
      table={() => ({
        columns: shownColumns.filter(({ isActions = false, value }) => !isActions && value !== undefined),
        rows: sortedRows.map(({ row }) => row),
      })}
    >
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
