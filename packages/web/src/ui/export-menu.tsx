import { Copy, Ellipsis, FileSpreadsheet, Image } from "lucide-react";
import type { ReactNode } from "react";
import { useRef } from "react";
import { IconButton, useCopy } from "./button.tsx";
import { type Copied, recordsOf, writeMarkdown, writeTabSeparated } from "./data-table/columns.ts";
import { Menu, MenuItem } from "./menu.tsx";

interface ExportMenuProps<Row> {
  /** What it is of, for screen readers and as the name of files. */
  label: string;
  /** Absent: the cells of the table in the same card, as they are shown. */
  table?(): Copied<Row>;
  /** Whether the figure that it is in can be saved as a picture. */
  isDrawn?: boolean;
  /** More choices, below. */
  children?: ReactNode;
}

/** Takes a table or a chart elsewhere: the one menu that all of them have. */
export function ExportMenu<Row>({ label, table, isDrawn = false, children }: ExportMenuProps<Row>) {
  const trigger = useRef<HTMLSpanElement>(null);
  const { notice, copy } = useCopy();
  const records = () => (table === undefined ? shownCells(trigger.current) : recordsOf(table()));
  const copied = (write: <Any>(one: Copied<Any>) => string) =>
    copy(table === undefined ? write(asTable(records())) : write(table()));

  async function saveCsv(): Promise<void> {
    const { fileNameOf, saveFile, writeCsv } = await import("./save-file.ts");
    saveFile(fileNameOf(label, "csv"), writeCsv(records()), "text/csv");
  }
  async function savePicture(kind: "svg" | "png"): Promise<void> {
    const figure = trigger.current?.closest("figure");
    if (figure == null) return;
    const [{ drawElement }, { fileNameOf, saveFile, toPng }] = await Promise.all([
      import("./draw-element.ts"),
      import("./save-file.ts"),
    ]);
    const drawing = drawElement(figure);
    const content =
      kind === "svg" ? new Blob([drawing.svg], { type: "image/svg+xml" }) : await toPng(drawing.svg, drawing);
    saveFile(fileNameOf(label, kind), content);
  }

  return (
    <span ref={trigger} className="inline-flex">
      <Menu trigger={<IconButton label={notice ?? `Options of ${label}`} icon={<Ellipsis aria-hidden />} />}>
        <MenuItem icon={<Copy aria-hidden />} onSelect={() => copied(writeTabSeparated)}>
          Copy for a spreadsheet
        </MenuItem>
        <MenuItem icon={<Copy aria-hidden />} onSelect={() => copied(writeMarkdown)}>
          Copy as Markdown
        </MenuItem>
        <MenuItem icon={<FileSpreadsheet aria-hidden />} onSelect={() => void saveCsv()}>
          Save as CSV
        </MenuItem>
        {isDrawn && (
          <>
            <MenuItem icon={<Image aria-hidden />} onSelect={() => void savePicture("svg")}>
              Save as SVG
            </MenuItem>
            <MenuItem icon={<Image aria-hidden />} onSelect={() => void savePicture("png")}>
              Save as PNG
            </MenuItem>
          </>
        )}
        {children}
      </Menu>
    </span>
  );
}

/** The cells of the table that stands in the same card, as texts, without columns that are only drawn. */
function shownCells(inside: Element | null): string[][] {
  const rows = [...(inside?.closest("section")?.querySelectorAll("table tr") ?? [])].map((row) =>
    [...row.querySelectorAll("th, td")].map(textOf),
  );
  const isRead = (_: string, index: number) => rows.slice(1).some((cells) => (cells[index] ?? "") !== "");
  return rows.map((cells) => cells.filter(isRead));
}

function textOf(cell: Element): string {
  const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  const texts: string[] = [];
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    if (node.parentElement?.closest("svg, [aria-hidden=true]") == null)
      texts.push(node.textContent?.trim() ?? "");
  }
  return texts.filter(Boolean).join(" ");
}

function asTable([head = [], ...rows]: readonly string[][]): Copied<string[]> {
  return { columns: head.map((label, index) => ({ label, value: (row: string[]) => row[index] })), rows };
}
