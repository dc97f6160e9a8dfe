import { Columns3, Copy } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import { Button, useCopy } from "../button.tsx";
import { Menu, MenuCheck, MenuItem } from "../menu.tsx";
import { writeMarkdown, writeTabSeparated } from "./columns.ts";
import type { DataTableModel } from "./table-model.ts";

/** Choosing columns, and copying the rows that are loaded. */
export function TableTools<Row>({ table }: { table: DataTableModel<Row> }) {
  return (
    <span className="inline-flex gap-1">
      <ColumnsMenu table={table} />
      <CopyMenu table={table} />
    </span>
  );
}

const look = { variant: "quiet", size: "small" } as const;

function ColumnsMenu<Row>({ table: { columns, label, shownColumns, view } }: { table: DataTableModel<Row> }) {
  const shown = shownColumns.map(({ id }) => id);
  const toggle = (id: string) =>
    view.changeColumns(
      columns
        .map((column) => column.id)
        .filter((other) => (other === id ? !shown.includes(id) : shown.includes(other))),
    );
  return (
    <Menu
      trigger={
        <Button {...look} icon={<Columns3 aria-hidden />} aria-label={`Columns of ${label}`}>
          Columns
        </Button>
      }
    >
      {columns
        .filter(({ isFixed = false, isActions = false }) => !isFixed && !isActions)
        .map(({ id, label }) => (
          <MenuCheck key={id} isOn={shown.includes(id)} onChange={() => toggle(id)}>
            {label}
          </MenuCheck>
        ))}
      {view.hasOwnColumns && (
        <>
          <DropdownMenu.Separator className="my-1 border-t border-line" />
          <MenuItem onSelect={() => view.changeColumns(undefined)}>As at first</MenuItem>
        </>
      )}
    </Menu>
  );
}

function CopyMenu<Row>({ table: { label, shownColumns, sortedRows } }: { table: DataTableModel<Row> }) {
  const { notice, copy } = useCopy();
  const copied = shownColumns.filter(({ isActions = false, value }) => !isActions && value !== undefined);
  const rows = () => sortedRows.map(({ row }) => row);
  return (
    <Menu
      trigger={
        <Button {...look} icon={<Copy aria-hidden />} aria-label={notice ?? `Copy ${label} as a table`}>
          {notice ?? "Copy"}
        </Button>
      }
    >
      <MenuItem onSelect={() => copy(writeTabSeparated(copied, rows()))}>For a spreadsheet</MenuItem>
      <MenuItem onSelect={() => copy(writeMarkdown(copied, rows()))}>As Markdown</MenuItem>
    </Menu>
  );
}
