import type { ComparedLine, DifferenceRow } from "./compare-lines.ts";
import type { Stretch } from "./stretch.ts";

/** A row as it is shown. */
export type DisplayRow =
  | { kind: "equal"; before: number; after: number; stretches: Stretch[] }
  | { kind: "removed"; line: ComparedLine }
  | { kind: "added"; line: ComparedLine }
  | { kind: "pair"; before?: ComparedLine; after?: ComparedLine }
  /** Equal rows that are not shown, from the place of the first. */
  | { kind: "folded"; from: number; count: number; path?: string };

export type Layout = "unified" | "side-by-side";

/** Equal rows that stay around each change. */
const around = 3;
/** Fewer are not worth a fold. */
const leastFolded = 3;

export function displayRows(
  rows: readonly DifferenceRow[],
  layout: Layout,
  unfolded: ReadonlySet<number>,
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
    const foldFrom = from === 0 ? from : from + around;
    const foldEnd = end === rows.length ? end : end - around;
    const isFolded = foldEnd - foldFrom >= leastFolded && !unfolded.has(foldFrom);
    for (let index = from; index < end; index += 1) {
      const row = rows[index];
      if (isFolded && index === foldFrom) {
        const path = paths?.[foldEnd];
        shown.push({ kind: "folded", from: foldFrom, count: foldEnd - foldFrom, ...(path && { path }) });
      }
      if (row?.kind === "equal" && !(isFolded && index >= foldFrom && index < foldEnd)) shown.push(row);
    }
  }

  function pushChanged(from: number, end: number): void {
    const changed = rows.slice(from, end).filter((row) => row.kind === "changed");
    if (layout === "side-by-side") {
      shown.push(
        ...changed.map(
          ({ before, after }): DisplayRow => ({
            kind: "pair",
            ...(before && { before }),
            ...(after && { after }),
          }),
        ),
      );
      return;
    }
    for (const { before } of changed) if (before) shown.push({ kind: "removed", line: before });
    for (const { after } of changed) if (after) shown.push({ kind: "added", line: after });
  }
}
