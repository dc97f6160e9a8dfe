import { formatDetectable, nothingDetectable } from "@presage/contract/describe-comparison";
import { describeP, formatPoints, measureNames } from "@presage/contract/describe-runs";
import type { Comparison, ComparisonCandidate } from "@presage/sdk";
import { clsx } from "clsx";
import {
  countedIn,
  formatCount,
  formatP,
  formatScore,
  formatShare,
  unbroken,
} from "../../../format/numbers.ts";
import { type ComparedEvaluator, evaluatorKey, nameEvaluator } from "../../../parts/evaluator-names.ts";
import { Card } from "../../../ui/card.tsx";
import { IntervalAxis, IntervalRowMark } from "../../../ui/charts/interval-plot.tsx";
import { domainWithZero, type Range } from "../../../ui/charts/scale.ts";
import { Cell, HeaderCell, RowHeader, Table } from "../../../ui/table.tsx";
import { Explained } from "../../../ui/tooltip.tsx";
import type { MarkedRun } from "../run-mark.tsx";
import { RunName } from "../run-mark.tsx";

interface DifferencesCardProps {
  evaluators: Comparison["evaluators"];
  chosen: ComparedEvaluator;
  marked: readonly MarkedRun[];
}

/** Every evaluator's figures of every run, with the paired differences on one axis. */
export function DifferencesCard({ evaluators, chosen, marked }: DifferencesCardProps) {
  const domain = domainWithZero(evaluators.flatMap(endsOf));
  return (
    <Card
      title="Differences"
      hint="Of the mean scores, or of the pass rates where verdicts have no score, from the reference’s, in percentage points, on the samples that all runs have a verdict for."
    >
      <Table label="Differences from the reference">
        <thead>
          <tr className={clsx("border-b border-line", fittingRow)}>
            <HeaderCell>Evaluator and run</HeaderCell>
            <HeaderCell isNumber>
              <span className={inLines}>Difference, points</span>
            </HeaderCell>
            <HeaderCell className="min-w-28 md:min-w-40 xl:min-w-40">
              <IntervalAxis domain={domain} format={(value) => formatPoints(value).replace(/\.0$/, "")} />
            </HeaderCell>
            <HeaderCell isNumber>95&nbsp;% interval</HeaderCell>
            <HeaderCell isNumber>p (Holm)</HeaderCell>
            <HeaderCell isNumber>Mean</HeaderCell>
            <HeaderCell isNumber>Pass rate</HeaderCell>
            <HeaderCell isNumber>Samples</HeaderCell>
            <HeaderCell isNumber>
              <span className={inLines}>Better&nbsp;/&nbsp;worse /&nbsp;same</span>
            </HeaderCell>
            <HeaderCell isNumber>
              <span className={inLines}>Detectable, points</span>
            </HeaderCell>
          </tr>
        </thead>
        {evaluators.map((evaluator) => (
          <EvaluatorRows
            key={evaluatorKey(evaluator)}
            evaluator={evaluator}
            name={nameEvaluator(evaluator, evaluators)}
            isChosen={evaluatorKey(evaluator) === evaluatorKey(chosen)}
            marked={marked}
            domain={domain}
          />
        ))}
      </Table>
    </Card>
  );
}

/** The values that the common axis has to cover. */
function endsOf({ candidates }: ComparedEvaluator): number[] {
  return candidates.flatMap(({ difference, interval }) =>
    [difference, interval?.lower, interval?.upper].filter((end) => end != null),
  );
}

/** Wraps a long column heading. */
const inLines = "inline-block w-min whitespace-normal";

/** Hides columns that do not fit: on a tablet, the mean, the samples and the detectable difference. */
const fittingRow = "phone:*:nth-[n+4]:hidden rail:*:nth-[2n+6]:hidden print:*:nth-[2n+6]:hidden";

interface EvaluatorRowsProps {
  evaluator: ComparedEvaluator;
  name: string;
  isChosen: boolean;
  marked: readonly MarkedRun[];
  domain: Range;
}

function EvaluatorRows({ evaluator, name, isChosen, marked, domain }: EvaluatorRowsProps) {
  const { reference, candidates } = evaluator;
  const markedOf = (id: string) => marked.find(({ run }) => run.id === id);
  const referenceRun = markedOf(reference.run_id);
  return (
    <tbody className={clsx("border-b border-line last-of-type:border-0", isChosen && "bg-accent-soft/40")}>
      <tr>
        <th scope="rowgroup" colSpan={10} className="px-4 pt-3 pb-1 text-left text-sm font-semibold">
          {name}
        </th>
      </tr>
      {referenceRun !== undefined && (
        <tr className={fittingRow}>
          <RowHeader className="max-w-60 rail:max-w-58">
            <RunName marked={referenceRun} />
          </RowHeader>
          <Cell isNumber className="text-ink-3">
            reference
          </Cell>
          <Cell />
          <Cell />
          <Cell />
          <Cell isNumber>{formatScore(reference.mean)}</Cell>
          <Cell isNumber>{formatShare(reference.pass_rate)}</Cell>
          <Cell isNumber className="whitespace-nowrap">
            {formatCount(reference.count)}
            {candidates[0] && (
              <span className="text-ink-3"> in {formatCount(candidates[0].trajectories)}</span>
            )}
          </Cell>
          <Cell />
          <Cell />
        </tr>
      )}
      {candidates.map((candidate) => {
        const one = markedOf(candidate.run_id);
        return (
          one !== undefined && (
            <CandidateRow key={candidate.run_id} candidate={candidate} marked={one} domain={domain} />
          )
        );
      })}
    </tbody>
  );
}

interface CandidateRowProps {
  candidate: ComparisonCandidate;
  marked: MarkedRun;
  domain: Range;
}

const outcomeClasses: Record<ComparisonCandidate["outcome"], string | undefined> = {
  better: "text-pass",
  worse: "text-fail",
  undecided: undefined,
};

function CandidateRow({ candidate, marked, domain }: CandidateRowProps) {
  const { difference, interval, outcome, p_adjusted: p, count, trajectories, wins, losses, ties } = candidate;
  const range =
    interval === null ? "no interval" : `${formatPoints(interval.lower)} to ${formatPoints(interval.upper)}`;
  return (
    <tr className={fittingRow}>
      <RowHeader className="max-w-60 rail:max-w-58">
        <RunName marked={marked} />
      </RowHeader>
      <Cell isNumber>
        <Explained
          text={explainDifference(candidate)}
          className={clsx("font-semibold", outcomeClasses[outcome])}
        >
          {formatPoints(difference)}
        </Explained>
        <span className="hidden text-xs whitespace-nowrap text-ink-2 phone:block">
          <span className="block">{range}</span>
          {formatCount(count)} in {formatCount(trajectories)}
        </span>
      </Cell>
      <Cell>
        {difference !== null && (
          <IntervalRowMark
            mark="dot"
            domain={domain}
            row={{
              key: marked.run.id,
              label: marked.run.name,
              value: difference,
              lower: interval?.lower,
              upper: interval?.upper,
              color: marked.color,
            }}
          />
        )}
      </Cell>
      <Cell isNumber className="text-xs whitespace-nowrap text-ink-2">
        {range}
      </Cell>
      <Cell isNumber>{formatP(p)}</Cell>
      <Cell isNumber>{formatScore(candidate.mean)}</Cell>
      <Cell isNumber>{formatShare(candidate.pass_rate)}</Cell>
      <Cell isNumber className="whitespace-nowrap">
        <Explained text={explainPairs(candidate)}>
          {formatCount(count)} <span className="text-ink-3">in {formatCount(trajectories)}</span>
        </Explained>
      </Cell>
      <Cell isNumber className="whitespace-nowrap">
        <span className="text-pass">{formatCount(wins)}</span> /{" "}
        <span className="text-fail">{formatCount(losses)}</span> / {formatCount(ties)}
      </Cell>
      <Cell isNumber>
        <Explained text={explainDetectable(candidate)}>
          {formatDetectable(candidate.min_detectable)}
        </Explained>
      </Cell>
    </tr>
  );
}

type Figures = Pick<
  ComparisonCandidate,
  "difference" | "interval" | "measure" | "count" | "trajectories" | "p_value"
>;

/** Explains what a difference is and what it is based on, and how its interval was made. */
function explainDifference(figures: Figures): string {
  const { difference, interval, measure, count, trajectories, p_value } = figures;
  const base = `Difference of the ${measureNames[measure]}s in percentage points, paired by sample: ${formatPoints(difference)}, over ${countedIn(count, trajectories)}.`;
  const range =
    interval === null
      ? "There is no interval: fewer than 6 trajectories, or all differ alike."
      : `95\u00a0% interval ${formatPoints(interval.lower)} to ${formatPoints(interval.upper)}: every difference that flipped signs of the trajectories’ sums do not reject.`;
  const test = p_value === null ? "" : ` ${unbroken(describeP(p_value))} before Holm’s correction.`;
  return `${base} ${range}${test}`;
}

function explainPairs({
  count,
  trajectories,
  only_in_reference,
  only_in_candidate,
}: ComparisonCandidate): string {
  return `${countedIn(count, trajectories)} ${count === 1 ? "has" : "have"} a verdict in every run. Only the reference has one for ${formatCount(only_in_reference)} more, only this run for ${formatCount(only_in_candidate)}.`;
}

function explainDetectable({
  min_detectable,
  trajectories_for_1_point: needed,
}: ComparisonCandidate): string {
  if (min_detectable === null) return "Nothing varies here, so this cannot be said.";
  if (min_detectable >= 1) return `${nothingDetectable}.`;
  const trajectories =
    needed === null ? "" : ` A difference of 1 point would take ${formatCount(needed)} such trajectories.`;
  return `The true difference in points that such data shows in four of five cases.${trajectories}`;
}
