import type { RunReport } from "@presage/sdk";
import { Link } from "@tanstack/react-router";
import { formatCount } from "../../../format/format-number.ts";
import { humanizeName } from "../../../format/humanize-name.ts";
import { Card } from "../../../ui/card.tsx";
import { Cell, HeaderCell, RowHeader, Table } from "../../../ui/table.tsx";

/** What failed, by kind. Failures are in no mean. */
export function FailuresCard({ report: { run, failures, evaluators } }: { report: RunReport }) {
  const kinds = [
    ...Object.entries(failures.predictions).map(([kind, count]) => ({ of: "Prediction", kind, count })),
    ...Object.entries(failures.evaluations).map(([kind, count]) => ({ of: "Evaluation", kind, count })),
    ...Object.entries(run.progress.tries?.retried ?? {}).map(([kind, count]) => ({
      of: "Call, tried again",
      kind,
      count,
    })),
  ].sort((one, other) => other.count - one.count);
  const counted = evaluators[0];
  return (
    <Card
      title="Errors by kind"
      hint="Failed predictions and evaluations are left out of means and pass rates. Calls that were tried again are in them if they succeeded in the end."
      actions={
        kinds.length > 0 && (
          <Link
            to="/predictions"
            search={{ run: run.id, status: "failed" }}
            className="text-sm text-accent-ink underline-offset-2 hover:underline"
          >
            Failed predictions
          </Link>
        )
      }
    >
      {kinds.length === 0 ? (
        <p className="px-4 py-3 text-sm text-ink-2">Nothing failed.</p>
      ) : (
        <Table label="Errors by kind">
          <thead>
            <tr className="border-b border-line">
              <HeaderCell>Kind</HeaderCell>
              <HeaderCell>Of</HeaderCell>
              <HeaderCell isNumber>Count</HeaderCell>
            </tr>
          </thead>
          <tbody>
            {kinds.map(({ of, kind, count }) => (
              <tr key={`${of} ${kind}`} className="border-b border-line last:border-0">
                <RowHeader>{humanizeName(kind)}</RowHeader>
                <Cell>{of}</Cell>
                <Cell isNumber>{formatCount(count)}</Cell>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
      {counted !== undefined && counted.failed > 0 && (
        <p className="border-t border-line px-4 py-2 text-xs text-ink-3">
          With failures as zero, the mean score by {counted.evaluator} is{" "}
          {counted.mean_failures_as_zero === null ? "–" : counted.mean_failures_as_zero.toFixed(3)}.
        </p>
      )}
    </Card>
  );
}
