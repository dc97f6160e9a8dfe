import { Link } from "@tanstack/react-router";
import type { PeriodSummary } from "../../data/summaries.ts";
import { formatCount, formatShare } from "../../text/format-number.ts";
import { Card } from "../../ui/card.tsx";
import { IntervalBar } from "../../ui/charts/interval-bar.tsx";

const shown = 8;

/** The evaluators that were used most, and what came of them. */
export function EvaluatorsCard({ summary }: { summary: PeriodSummary }) {
  const groups = summary.byEvaluator.toSorted((a, b) => b.count - a.count).slice(0, shown);
  const left = summary.byEvaluator.length - groups.length;
  const cell = "px-3 py-2 text-right tabular-nums";
  return (
    <Card title="Evaluators" hint={left > 0 ? `The ${shown} used most; ${left} more were used.` : undefined}>
      <section aria-label="Evaluators" tabIndex={0} className="overflow-x-auto">
        <table className="w-full text-sm whitespace-nowrap">
          <thead>
            <tr className="border-b border-line text-xs text-ink-3">
              <th scope="col" className="px-4 py-2 text-left font-medium">
                Evaluator
              </th>
              {["Evaluations", "Passed", "Failed", "No verdict", "Pass rate"].map((name) => (
                <th key={name} scope="col" className="px-3 py-2 text-right font-medium">
                  {name}
                </th>
              ))}
              <th scope="col" className="w-2/5 px-4 py-2 text-left font-medium">
                With its 95 % interval
              </th>
            </tr>
          </thead>
          <tbody>
            {groups.map((group) => (
              <tr key={group.key.evaluator_id} className="border-b border-line last:border-0 hover:bg-hover">
                <th scope="row" className="px-4 py-2 text-left font-normal">
                  <Link to="/evaluations" className="text-accent-ink underline-offset-2 hover:underline">
                    {group.key.evaluator_id}
                  </Link>
                </th>
                <td className={cell}>{formatCount(group.count)}</td>
                <td className={cell}>{formatCount(group.passed)}</td>
                <td className={cell}>{formatCount(group.not_passed)}</td>
                <td className={cell}>{formatCount(group.failed)}</td>
                <td className={cell}>{formatShare(group.pass_rate)}</td>
                <td className="px-4 py-2">
                  <EvaluatorInterval group={group} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </Card>
  );
}

function EvaluatorInterval({ group }: { group: PeriodSummary["byEvaluator"][number] }) {
  const { pass_rate: rate, pass_rate_interval: interval } = group;
  if (rate === null || interval === null) return <span className="text-ink-3">No verdicts</span>;
  const words = `${formatShare(interval.lower)} to ${formatShare(interval.upper)}`;
  return (
    <span title={words} className="flex items-center">
      <IntervalBar value={rate} lower={interval.lower} upper={interval.upper} />
      <span className="sr-only">{words}</span>
    </span>
  );
}
