import type { Comparison, ComparisonCandidate } from "@presage/sdk";
import { clsx } from "clsx";
import { formatP, formatPoints } from "../../../format/format-difference.ts";
import { formatCount, formatScore, formatShare } from "../../../format/format-number.ts";
import { Card } from "../../../ui/card.tsx";
import { Tooltip } from "../../../ui/overlay/tooltip.tsx";
import { Cell, HeaderCell, RowHeader, Table } from "../../../ui/table.tsx";
import { type ComparedEvaluator, evaluatorKey, nameEvaluator } from "../name-evaluator.ts";
import { significance } from "../outcome/describe-outcome.ts";
import { RunName } from "../run-mark.tsx";
import type { MarkedRun } from "../run-marks.ts";
import { type Axis, axisOf, rangesOf } from "./axis.ts";
import { AxisLabels, DifferenceBar } from "./difference-bar.tsx";
import { explainDifference } from "./explain-difference.ts";

interface DifferencesCardProps {
  evaluators: Comparison["evaluators"];
  chosen: ComparedEvaluator;
  marked: readonly MarkedRun[];
}

/** Every evaluator's figures of every run, with the paired differences on one axis. */
export function DifferencesCard({ evaluators, chosen, marked }: DifferencesCardProps) {
  const axis = axisOf(rangesOf(evaluators));
  return (
    <Card
      title="Differences"
      hint="Of the mean scores from the reference’s, in percentage points, on the samples that all runs have a verdict for."
    >
      <Table label="Differences from the reference">
        <thead>
          <tr className="border-b border-line">
            <HeaderCell>Evaluator and run</HeaderCell>
            <HeaderCell isNumber>Mean</HeaderCell>
            <HeaderCell isNumber>Pass rate</HeaderCell>
            <HeaderCell isNumber>Difference</HeaderCell>
            <HeaderCell className="min-w-56">95 % interval</HeaderCell>
            <HeaderCell isNumber>p (Holm)</HeaderCell>
            <HeaderCell isNumber>Samples</HeaderCell>
            <HeaderCell isNumber>Better / worse / same</HeaderCell>
            <HeaderCell isNumber>Detectable</HeaderCell>
          </tr>
        </thead>
        {evaluators.map((evaluator) => (
          <EvaluatorRows
            key={evaluatorKey(evaluator)}
            evaluator={evaluator}
            name={nameEvaluator(evaluator, evaluators)}
            isChosen={evaluatorKey(evaluator) === evaluatorKey(chosen)}
            marked={marked}
            axis={axis}
          />
        ))}
        <tfoot>
          <tr className="border-t border-line">
            <td colSpan={4} />
            <Cell>
              <AxisLabels axis={axis} />
            </Cell>
            <td colSpan={4} />
          </tr>
        </tfoot>
      </Table>
    </Card>
  );
}

interface EvaluatorRowsProps {
  evaluator: ComparedEvaluator;
  name: string;
  isChosen: boolean;
  marked: readonly MarkedRun[];
  axis: Axis;
}

function EvaluatorRows({ evaluator, name, isChosen, marked, axis }: EvaluatorRowsProps) {
  const { reference, candidates } = evaluator;
  const markedOf = (id: string) => marked.find(({ run }) => run.id === id);
  const referenceRun = markedOf(reference.run_id);
  return (
    <tbody className={clsx("border-b border-line last-of-type:border-0", isChosen && "bg-accent-soft/40")}>
      <tr>
        <th scope="rowgroup" colSpan={9} className="px-4 pt-3 pb-1 text-left text-sm font-semibold">
          {name}
        </th>
      </tr>
      {referenceRun !== undefined && (
        <tr>
          <RowHeader className="max-w-60">
            <RunName marked={referenceRun} />
          </RowHeader>
          <Cell isNumber>{formatScore(reference.mean)}</Cell>
          <Cell isNumber>{formatShare(reference.pass_rate)}</Cell>
          <Cell isNumber className="text-ink-3">
            reference
          </Cell>
          <Cell />
          <Cell />
          <Cell isNumber>{formatCount(reference.count)}</Cell>
          <Cell />
          <Cell />
        </tr>
      )}
      {candidates.map((candidate) => {
        const one = markedOf(candidate.run_id);
        return (
          one !== undefined && <CandidateRow key={candidate.run_id} {...{ candidate, marked: one, axis }} />
        );
      })}
    </tbody>
  );
}

interface CandidateRowProps {
  candidate: ComparisonCandidate;
  marked: MarkedRun;
  axis: Axis;
}

function CandidateRow({ candidate, marked, axis }: CandidateRowProps) {
  const { difference, interval, p_adjusted: p, count, trajectories, wins, losses, ties } = candidate;
  const isShown = p !== null && p < significance && difference !== null;
  return (
    <tr>
      <RowHeader className="max-w-60">
        <RunName marked={marked} />
      </RowHeader>
      <Cell isNumber>{formatScore(candidate.mean)}</Cell>
      <Cell isNumber>{formatShare(candidate.pass_rate)}</Cell>
      <Cell isNumber>
        <Figure
          text={explainDifference(candidate)}
          className={clsx("font-semibold", isShown && (difference > 0 ? "text-pass" : "text-fail"))}
        >
          {formatPoints(difference)}
        </Figure>
      </Cell>
      <Cell>
        {difference !== null && (
          <span className="block">
            <DifferenceBar axis={axis} value={difference} interval={interval} color={marked.color} />
            <span className="sr-only">
              {interval === null
                ? "no interval"
                : `${formatPoints(interval.lower)} to ${formatPoints(interval.upper)}`}
            </span>
          </span>
        )}
      </Cell>
      <Cell isNumber>{formatP(p)}</Cell>
      <Cell isNumber className="whitespace-nowrap">
        <Figure text={explainPairs(candidate)}>
          {formatCount(count)} <span className="text-ink-3">in {formatCount(trajectories)}</span>
        </Figure>
      </Cell>
      <Cell isNumber className="whitespace-nowrap">
        <span className="text-pass">{formatCount(wins)}</span> /{" "}
        <span className="text-fail">{formatCount(losses)}</span> / {formatCount(ties)}
      </Cell>
      <Cell isNumber>
        <Figure text={explainDetectable(candidate)}>
          {formatPoints(candidate.min_detectable).replace("+", "")}
        </Figure>
      </Cell>
    </tr>
  );
}

function explainPairs({
  count,
  trajectories,
  only_in_reference,
  only_in_candidate,
}: ComparisonCandidate): string {
  return `${formatCount(count)} samples in ${formatCount(trajectories)} trajectories have a verdict in every run. Only the reference has one for ${formatCount(only_in_reference)} more, only this run for ${formatCount(only_in_candidate)}.`;
}

function explainDetectable({
  min_detectable,
  trajectories_for_1_point: needed,
}: ComparisonCandidate): string {
  if (min_detectable === null) return "Nothing varies here, so this cannot be said.";
  const trajectories =
    needed === null ? "" : ` A difference of 1 point would take ${formatCount(needed)} such trajectories.`;
  return `The true difference in points that such data shows in four of five cases.${trajectories}`;
}

/** A number that says on hover and on focus what it is. */
function Figure({
  text,
  className,
  children,
}: {
  text: string;
  className?: string;
  children: React.ReactNode;
}) {
  return (
    <Tooltip text={text}>
      <span tabIndex={0} className={clsx("rounded-sm", className)}>
        {children}
      </span>
    </Tooltip>
  );
}
