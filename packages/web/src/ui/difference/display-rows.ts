import type { ComparedLine, DifferenceRow, LinePart } from "./compare-texts.ts";

export type DisplayRow =
  | { kind: "equal"; before: number; after: number; parts: LinePart[] }
  | { kind: "removed"; line: ComparedLine }
  | { kind: "added"; line: ComparedLine }
  | { kind: "pair"; before: ComparedLine | undefined; after: ComparedLine | undefined }
  /** Hidden equal rows, starting at index `from`. */
  | { kind: "collapsed"; from: number; count: number; path: string | undefined };

export type Layout = "unified" | "side-by-side";

/** Equal rows that stay visible around each change. */
const contextRows = 3;
/** Fewer rows are not collapsed. */
const minCollapsed = 3;

export function displayRows(
  rows: readonly DifferenceRow[],
  layout: Layout,
  expanded: ReadonlySet<number>,
  paths?: readonly string[],
): DisplayRow[] {
  const shown: DisplayRow[] = [];
  for (let from = 0; from < rows.length; ) {
    const kind = rows[from]?.kind;
    let end = from;
    while (end < rows.length && rows[end]?.kind === kind) end += 1;
    if (kind === "equal") pushEqual(from, end);
    else pushChanged(from, end);
    from = end;
  }
  return shown;

  function pushEqual(from: number, end: number): void {
    const collapseFrom = from === 0 ? from : from + contextRows;
    const collapseEnd = end === rows.length ? end : end - contextRows;
    const isCollapsed = collapseEnd - collapseFrom >= minCollapsed && !expanded.has(collapseFrom);
    for (let index = from; index < end; index += 1) {
      const row = rows[index];
      if (isCollapsed && index === collapseFrom) {
        const path = paths?.[collapseEnd];
        shown.push({ kind: "collapsed", from: collapseFrom, count: collapseEnd - collapseFrom, path });
      }
      if (row?.kind === "equal" && !(isCollapsed && index >= collapseFrom && index < collapseEnd))
        shown.push(row);
    }
  }

  function pushChanged(from: number, end: number): void {
    const changed = rows.slice(from, end).filter((row) => row.kind === "changed");
    if (layout === "side-by-side") {
      shown.push(...changed.map(({ before, after }) => ({ kind: "pair" as const, before, after })));
      return;
    }
    for (const { before } of changed) if (before) shown.push({ kind: "removed", line: before });
    for (const { after } of changed) if (after) shown.push({ kind: "added", line: after });
  }
}
