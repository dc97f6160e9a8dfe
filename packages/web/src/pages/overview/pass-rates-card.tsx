import type { EvaluationSummaryGroup } from "@presage/sdk";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import type { PeriodSummary } from "../../data/summaries.ts";
import { profileOf, rateId, searchOfRate, sortRates, verdictsOf } from "../../data/summaries.ts";
import { describeVerdicts, formatCount } from "../../format/numbers.ts";
import { shortEvaluatorNames } from "../../format/words.ts";
import { NoVerdicts } from "../../parts/rates.tsx";
import type { Verdict } from "../../parts/results-search.ts";
import { Card } from "../../ui/card.tsx";
import type { DataColumn } from "../../ui/data-table/columns.ts";
import { ShortTable } from "../../ui/data-table/table-frame.tsx";
import { useDataTable } from "../../ui/data-table/table-model.ts";
import { TableTools } from "../../ui/data-table/table-tools.tsx";
import { useTableView } from "../../ui/data-table/table-view.ts";
import { DenseRate } from "../../ui/pass-rate.tsx";

interface RateRow {
  id: string;
  /** Without its date, unless two versions are in use. */
  name: string;
  figures: EvaluationSummaryGroup;
  /** Included in the evaluations without a verdict. */
  lackedInput: number;
  since: string;
}

const columns: readonly DataColumn<RateRow>[] = [
  {
    id: "evaluator",
    label: "Evaluator and profile",
    value: ({ name, figures }) => [name, profileOf(figures.key)].filter(Boolean).join(", "),
    cell: ({ name, figures }) => (
      <>
        <span className="font-medium text-accent-ink" title={figures.key.evaluator_id}>
          {name}
        </span>
        <span className="text-ink-3"> {profileOf(figures.key)}</span>
      </>
    ),
    widthPx: 200,
    isElastic: true,
    isFixed: true,
  },
  {
    id: "rate",
    label: "Pass rate, 95 % interval",
    hint: "Share of the verdicts that pass; corrections count. Verdicts about the same trajectory, otherwise the same sample, tend to agree, so the interval takes them as one group, a cluster.",
    value: ({ figures }) => figures.pass_rate,
    cell: ({ figures }) => <DenseRate figures={figures} />,
    isNewestFirst: true,
    widthPx: 304,
  },
  {
    id: "verdicts",
    label: "Verdicts",
    hint: "How many verdicts the rate is of, and in how many clusters.",
    value: ({ figures }) => verdictsOf(figures),
    cell: ({ figures }) => describeVerdicts(figures),
    isNewestFirst: true,
    widthPx: 208,
  },
  countColumn("passed", "Passed", "pass", ({ figures }) => figures.passed, true),
  countColumn("not-passed", "Did not pass", "fail", ({ figures }) => figures.not_passed),
  countColumn("errors", "Error", "error", ({ figures, lackedInput }) => figures.failed - lackedInput),
  countColumn("unusable", "Unusable input", "unusable-input", ({ lackedInput }) => lackedInput),
];

/** A count that opens the evaluations that it counts. */
function countColumn(
  id: string,
  label: string,
  verdict: Verdict,
  countOf: (row: RateRow) => number,
  isExtra = false,
): DataColumn<RateRow> {
  return {
    id,
    label,
    value: countOf,
    cell(row) {
      const count = countOf(row);
      if (count === 0) return <span className="text-ink-3">0</span>;
      const { key } = row.figures;
      return (
        <Link
          to="/evaluations"
          search={{ ...searchOfRate(key), since: row.since, verdict }}
          aria-label={`${formatCount(count)}, ${label.toLowerCase()}, of ${key.evaluator_id}`}
          className="underline-offset-2 hover:underline"
        >
          {formatCount(count)}
        </Link>
      );
    },
    isNumber: true,
    isExtra,
    widthPx: 124,
  };
}

const linkOf = ({ figures, since }: RateRow) => ({
  to: "/evaluations" as const,
  search: { ...searchOfRate(figures.key), since },
});

/** The direct evaluations of each evaluator and profile, those with the most verdicts first. Its height is the same while it loads. */
export function PassRatesCard({ summary }: { summary: PeriodSummary | undefined }) {
  const rows = useMemo(() => summary && toRows(summary), [summary]);
  const view = useTableView("overview-rates", columns);
  const table = useDataTable({
    label: "Pass rates",
    view,
    columns,
    rows,
    rowId: ({ id }) => id,
    rowName: ({ name }) => name,
    link: linkOf,
  });
  return (
    <Card
      title="Pass rate by evaluator"
      hint="Of direct evaluations, with 95 % intervals. Rates of several evaluators or runs are never pooled."
      className="flex h-92 flex-col"
      actions={<TableTools table={table} />}
    >
      <ShortTable table={table} isFull expectedRows={7} empty={<NoVerdicts count={0} />} />
    </Card>
  );
}

function toRows({ rates, lackedInput, since }: PeriodSummary): RateRow[] {
  const nameOf = shortEvaluatorNames(rates.map(({ key }) => key.evaluator_id ?? ""));
  return sortRates(rates).map((figures) => {
    const id = rateId(figures.key);
    const name = nameOf(figures.key.evaluator_id ?? "");
    return { id, name, figures, lackedInput: lackedInput.get(id) ?? 0, since };
  });
}
