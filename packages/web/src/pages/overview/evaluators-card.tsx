import type { EvaluationSummaryGroup } from "@presage/sdk";
import { Link } from "@tanstack/react-router";
import type { PeriodSummary } from "../../data/summaries.ts";
import { formatCount, formatShare } from "../../format/format-number.ts";
import { Card } from "../../ui/card.tsx";
import { IntervalBar } from "../../ui/charts/interval-bar.tsx";
import { Cell, HeaderCell, RowHeader, Table } from "../../ui/table.tsx";
import type { Verdict } from "../evaluations/explorer-search.ts";

const maxRows = 8;

/** The most used evaluators and their results. */
export function EvaluatorsCard({ since, byEvaluator, lackedInput }: PeriodSummary) {
  const groups = byEvaluator.toSorted((a, b) => b.count - a.count).slice(0, maxRows);
  const leftOut = byEvaluator.length - groups.length;
  return (
    <Card title="Evaluators" hint={leftOut > 0 ? `Top ${maxRows}; ${leftOut} more not shown.` : undefined}>
      <Table label="Evaluators" className="whitespace-nowrap">
        <thead>
          <tr className="border-b border-line">
            <HeaderCell>Evaluator</HeaderCell>
            {["Evaluations", "Passed", "Did not pass", "No verdict", "Unusable input", "Pass rate"].map(
              (name) => (
                <HeaderCell key={name} isNumber>
                  {name}
                </HeaderCell>
              ),
            )}
            <HeaderCell className="w-1/3">95 % interval</HeaderCell>
          </tr>
        </thead>
        <tbody>
          {groups.map((group) => (
            <EvaluatorRow
              key={group.key.evaluator_id}
              group={group}
              lackedInput={lackedInput.get(group.key.evaluator_id ?? "") ?? 0}
              since={since}
            />
          ))}
        </tbody>
      </Table>
    </Card>
  );
}

interface EvaluatorRowProps {
  group: EvaluationSummaryGroup;
  /** Included in the evaluations without a verdict. */
  lackedInput: number;
  since: string;
}

function EvaluatorRow({ group, lackedInput, since }: EvaluatorRowProps) {
  const evaluator = group.key.evaluator_id ?? "";
  const counts: { count: number; verdict: Verdict; words: string }[] = [
    { count: group.passed, verdict: "pass", words: "passed" },
    { count: group.not_passed, verdict: "fail", words: "did not pass" },
    { count: group.failed - lackedInput, verdict: "no-verdict", words: "ended in an error" },
    { count: lackedInput, verdict: "unusable-input", words: "had no usable input" },
  ];
  // Taller than its text, for touch screens.
  const link = "-my-2 inline-block py-2 underline-offset-2 hover:underline";
  return (
    <tr className="border-b border-line last:border-0 hover:bg-hover">
      <RowHeader>
        <Link to="/evaluations" search={{ evaluator, since }} className={`text-accent-ink ${link}`}>
          {evaluator}
        </Link>
      </RowHeader>
      <Cell isNumber>{formatCount(group.count)}</Cell>
      {counts.map(({ count, verdict, words }) => (
        <Cell key={words} isNumber>
          {count === 0 ? (
            <span className="text-ink-3">0</span>
          ) : (
            <Link
              to="/evaluations"
              search={{ evaluator, verdict, since }}
              aria-label={`${formatCount(count)} ${words}, of ${evaluator}`}
              className={link}
            >
              {formatCount(count)}
            </Link>
          )}
        </Cell>
      ))}
      <Cell isNumber>{formatShare(group.pass_rate)}</Cell>
      <Cell>
        <Interval rate={group.pass_rate} interval={group.pass_rate_interval} />
      </Cell>
    </tr>
  );
}

interface IntervalProps {
  rate: EvaluationSummaryGroup["pass_rate"];
  interval: EvaluationSummaryGroup["pass_rate_interval"];
}

function Interval({ rate, interval }: IntervalProps) {
  if (rate === null || interval === null) return <span className="text-ink-3">No verdicts</span>;
  const words = `${formatShare(interval.lower)} to ${formatShare(interval.upper)}`;
  return (
    <span title={words} className="flex items-center">
      <IntervalBar value={rate} lower={interval.lower} upper={interval.upper} />
      <span className="sr-only">{words}</span>
    </span>
  );
}
