import { ChartSpline, Table2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { IconButton } from "../button.tsx";
import type { Copied } from "../data-table/columns.ts";
import { ExportMenu } from "../export-menu.tsx";
import { ScrollRegion } from "../page.tsx";

interface ChartFigureProps {
  label: string;
  legend?: ReactNode;
  table: FiguresTable;
  format(value: number): string;
  /** What the figures are and how their intervals were made. */
  note?: ReactNode;
  children: ReactNode;
}

/** A chart, or the same figures as a table; both can be exported. */
export function ChartFigure({ label, legend, table, format, note, children }: ChartFigureProps) {
  const [isTable, setTable] = useState(false);
  return (
    <figure aria-label={label} className="flex min-w-0 flex-col gap-1.5 px-4 pt-2 pb-3">
      <div className="flex items-center gap-1">
        <div className="min-w-0 flex-1">{legend}</div>
        <IconButton
          label={isTable ? "Show as chart" : "Show as table"}
          icon={isTable ? <ChartSpline aria-hidden /> : <Table2 aria-hidden />}
          onClick={() => setTable(!isTable)}
        />
        <ExportMenu label={label} isDrawn table={() => copiedTable(table)} />
      </div>
      <div className="h-60">
        {isTable ? <FiguresView label={label} table={table} format={format} /> : children}
      </div>
      {note !== undefined && <figcaption className="text-xs text-ink-3">{note}</figcaption>}
    </figure>
  );
}

interface FiguresViewProps extends Pick<ChartFigureProps, "label" | "table"> {
  /** Formats cells that are numbers. */
  format?(value: number): string;
}

/** The figures of a chart, shown in its place. */
export function FiguresView({ label, table: { header, rows }, format = String }: FiguresViewProps) {
  const show = (cell: FiguresRow["cells"][number]) =>
    typeof cell === "number" ? format(cell) : (cell ?? "–");
  return (
    <ScrollRegion label={`${label}, as a table`} className="h-full overflow-auto text-xs">
      <table className="w-full tabular-nums">
        <thead className="sticky top-0 bg-surface">
          <tr className="text-ink-3">
            {header.map((name, index) => (
              <th
                // biome-ignore lint/suspicious/noArrayIndexKey: two series may have the same name
                key={index}
                scope="col"
                className={`px-2 py-1 font-medium whitespace-nowrap ${index === 0 ? "text-left" : "text-right"}`}
              >
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, cells }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the hour that a clock is set back by comes twice
            <tr key={index} className="border-t border-line">
              <th scope="row" className="px-2 py-1 text-left font-normal whitespace-nowrap text-ink-2">
                {name}
              </th>
              {cells.map((cell, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: as in the header
                <td key={index} className="px-2 py-1 text-right whitespace-nowrap">
                  {show(cell)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}

/** The figures of a chart. Numbers are copied in full, and shown as the chart shows them. */
export interface FiguresTable {
  header: readonly string[];
  rows: readonly FiguresRow[];
}

interface FiguresRow {
  name: string;
  cells: readonly (number | string | null | undefined)[];
}

/** The figures as a table that can be copied. */
export function copiedTable({ header, rows }: FiguresTable): Copied<FiguresRow> {
  const columns = header.map((label, index) => ({
    label,
    value: ({ name, cells }: FiguresRow) => (index === 0 ? name : cells[index - 1]),
  }));
  return { columns, rows };
}
