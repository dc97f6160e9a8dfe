import { useMemo, useState } from "react";
import { VirtualRows } from "../untrusted-text/virtual-rows.tsx";
import type { Difference } from "./compare-texts.ts";
import { DifferenceLine, EqualPair } from "./difference-line.tsx";
import { displayRows, type Layout } from "./display-rows.ts";

export function DifferenceRows({
  difference: { rows, paths },
  layout,
}: {
  difference: Extract<Difference, { kind: "rows" }>;
  layout: Layout;
}) {
  const [expanded, setExpanded] = useState<ReadonlySet<number>>(new Set());
  const shown = useMemo(() => displayRows(rows, layout, expanded, paths), [rows, layout, expanded, paths]);
  return (
    <VirtualRows
      label="Difference"
      count={shown.length}
      isWrapped
      renderRow={(index) => {
        const row = shown[index];
        if (row === undefined) return null;
        if (row.kind === "equal" && layout === "side-by-side") return <EqualPair row={row} />;
        return <DifferenceLine row={row} onExpand={(from) => setExpanded(new Set([...expanded, from]))} />;
      }}
    />
  );
}
