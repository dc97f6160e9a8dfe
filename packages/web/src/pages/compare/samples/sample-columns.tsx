import type { ComparedSample } from "@presage/sdk";
import { formatPoints } from "../../../format/format-difference.ts";
import { formatScore } from "../../../format/format-number.ts";
import type { DataColumn } from "../../../ui/data-table/data-column.ts";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import { SideBadge } from "./side-badge.tsx";

/** The most different first, as the server lists them: no column is sorted. */
export function sampleColumns(letters: {
  reference: string;
  candidate: string;
}): DataColumn<ComparedSample>[] {
  const sideColumn = (side: "reference" | "candidate"): DataColumn<ComparedSample> => ({
    id: side,
    label: `${letters[side]}, ${side === "reference" ? "reference" : "compared"}`,
    hint: "Whether it passes, and its mean score.",
    value: (sample) => sample[side].score,
    cell: (sample) => (
      <span className="inline-flex items-center gap-2">
        <SideBadge passRate={sample[side].pass_rate} />
        <span className="text-xs text-ink-3 tabular-nums">{formatScore(sample[side].score)}</span>
      </span>
    ),
    widthPx: 150,
  });
  return [
    {
      id: "sample",
      label: "Sample",
      value: ({ dataset_sample_id }) => dataset_sample_id,
      cell: ({ dataset_sample_id }) => <InlineText text={dataset_sample_id} />,
      widthPx: 180,
      isElastic: true,
      isFixed: true,
    },
    { id: "step", label: "Step", value: ({ step }) => step, widthPx: 72, isNumber: true, isWideOnly: true },
    sideColumn("reference"),
    sideColumn("candidate"),
    {
      id: "difference",
      label: "Difference",
      hint: "Of the scores, in percentage points.",
      value: ({ difference }) => difference,
      cell: ({ difference }) => formatPoints(difference),
      widthPx: 104,
      isNumber: true,
    },
  ];
}
