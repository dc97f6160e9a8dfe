import { Copy, Ellipsis, FileSpreadsheet, Image } from "lucide-react";
import type { ReactNode } from "react";
import { useRef } from "react";
import { IconButton, useCopy } from "./button.tsx";
import { type Copied, recordsOf, writeMarkdown, writeTabSeparated } from "./data-table/columns.ts";
import { Menu, MenuItem } from "./menu.tsx";

interface ExportMenuProps<Row> {
  /** What is exported, for screen readers and as the name of files. */
  label: string;
  /** Which rows are exported, if not all: “the 100 loaded rows ”. */
  rows?: string;
  /** Called when the user chooses to copy or save. */
  table(): Copied<Row>;
  /** Whether the surrounding figure can be saved as a picture. */
  isDrawn?: boolean;
  /** More choices, below the others. */
  children?: ReactNode;
}

/** Copies or saves a table or a chart: all of them have this menu. */
export function ExportMenu<Row>({
  label,
  rows = "",
  table,
  isDrawn = false,
  children,
}: ExportMenuProps<Row>) {
  const trigger = useRef<HTMLSpanElement>(null);
  const { notice, copy } = useCopy();
  async function saveCsv(): Promise<void> {
    const { fileNameOf, saveFile, writeCsv } = await import("./save-file.ts");
    saveFile(fileNameOf(label, "csv"), writeCsv(recordsOf(table())), "text/csv");
  }
  async function savePicture(kind: "svg" | "png"): Promise<void> {
    const figure = trigger.current?.closest("figure");
    if (figure == null) return;
    const [{ drawElement }, { fileNameOf, saveFile, toPng }] = await Promise.all([
      import("./charts/draw-element.ts"),
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
        <MenuItem icon={<Copy aria-hidden />} onSelect={() => copy(writeTabSeparated(table()))}>
          Copy {rows}for a spreadsheet
        </MenuItem>
        <MenuItem icon={<Copy aria-hidden />} onSelect={() => copy(writeMarkdown(table()))}>
          Copy {rows}as Markdown
        </MenuItem>
        <MenuItem icon={<FileSpreadsheet aria-hidden />} onSelect={() => void saveCsv()}>
          Save {rows}as CSV
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
