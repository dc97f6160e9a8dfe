import { clsx } from "clsx";
import { useMemo, useState } from "react";
import { Segmented } from "../form/choices.tsx";
import { useNarrow } from "../screen.ts";
import { PlainText } from "../untrusted-text/plain-text.tsx";
import { VirtualRows } from "../untrusted-text/virtual-rows.tsx";
import { compareAsJson, compareAsText, type Difference } from "./compare-texts.ts";
import { DifferenceLine } from "./difference-line.tsx";
import { displayRows, type Layout } from "./display-rows.ts";

interface TextDifferenceProps {
  before: string;
  after: string;
  /** For example “Gold answer”. */
  beforeLabel: string;
  afterLabel: string;
  /** Whether the second text predicts the first: then differences are missing or invented, rather than removed or added. */
  isPredicted?: boolean;
  /** The layout until the user chooses. Absent: unified. */
  firstLayout?: Layout;
}

const layouts = [
  { value: "unified", label: "Unified" },
  { value: "side-by-side", label: "Side by side" },
] as const;

const readings = [
  { value: "json", label: "JSON" },
  { value: "text", label: "Text" },
] as const;

/** Blue for what only the recording contains, amber for what only the prediction contains. */
const predictedLook =
  "[--color-fail:var(--color-accent-ink)] [--color-fail-soft:var(--color-accent-soft)] [--color-pass:var(--color-warn)] [--color-pass-soft:var(--color-warn-soft)] [&_del]:underline [&_del]:underline-offset-2";

/** Compares two untrusted texts: JSON by meaning, anything else by lines and words. */
export function TextDifference({
  before,
  after,
  beforeLabel,
  afterLabel,
  isPredicted = false,
  firstLayout = "unified",
}: TextDifferenceProps) {
  const isNarrow = useNarrow();
  const [chosenLayout, setLayout] = useState<Layout>(firstLayout);
  // Half of a phone's width is too narrow for a text.
  const layout = isNarrow ? "unified" : chosenLayout;
  const [chosen, setReading] = useState<"json" | "text">("json");
  const byMeaning = useMemo(() => compareAsJson(before, after), [before, after]);
  const isJson = byMeaning !== undefined && chosen === "json";
  const difference = useMemo(
    () => (isJson && byMeaning ? byMeaning : compareAsText(before, after)),
    [before, after, byMeaning, isJson],
  );
  return (
    <div
      className={clsx(
        "min-w-0 overflow-hidden rounded-md border border-line bg-surface",
        isPredicted && predictedLook,
      )}
    >
      <div className="flex min-h-9 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line bg-sunken px-3 py-1 text-xs">
        <span className="font-medium text-fail">
          − {beforeLabel}
          {isPredicted && ", missing"}
        </span>
        <span className="flex-1 font-medium text-pass">
          + {afterLabel}
          {isPredicted && ", invented"}
        </span>
        {byMeaning !== undefined && (
          <Segmented
            label="Compare as"
            value={chosen}
            options={readings}
            onChange={(next) => setReading(next)}
          />
        )}
        {difference.kind === "rows" && (
          <span className="hidden sm:inline">
            <Segmented label="Layout" value={layout} options={layouts} onChange={(next) => setLayout(next)} />
          </span>
        )}
      </div>
      <DifferenceBody
        before={before}
        after={after}
        beforeLabel={beforeLabel}
        afterLabel={afterLabel}
        difference={difference}
        layout={layout}
        isJson={isJson}
      />
    </div>
  );
}

function DifferenceBody({
  before,
  after,
  beforeLabel,
  afterLabel,
  difference,
  layout,
  isJson,
}: Omit<TextDifferenceProps, "firstLayout" | "isPredicted"> & {
  difference: Difference;
  layout: Layout;
  isJson: boolean;
}) {
  if (difference.kind === "equal") {
    return (
      <p className="px-3 py-2 text-sm text-ink-2">
        {isJson && before !== after ? "Same JSON, different formatting." : "The texts are identical."}
      </p>
    );
  }
  if (difference.kind === "too-large") {
    return (
      <div className="flex flex-col gap-3 p-3">
        <p className="text-sm text-ink-2">The texts differ too much to compare. Both are shown below.</p>
        <div className="grid gap-3 lg:grid-cols-2">
          <PlainText text={before} label={beforeLabel} />
          <PlainText text={after} label={afterLabel} />
        </div>
      </div>
    );
  }
  return <DifferenceRows key={layout} difference={difference} layout={layout} />;
}

function DifferenceRows({
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
        return (
          <DifferenceLine
            row={row}
            layout={layout}
            onExpand={(from) => setExpanded(new Set([...expanded, from]))}
          />
        );
      }}
    />
  );
}
