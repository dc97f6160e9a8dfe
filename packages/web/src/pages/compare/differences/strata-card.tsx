import type { ComparisonStratum } from "@presage/sdk";
import { formatP, formatPoints } from "../../../format/format-difference.ts";
import { formatCount, formatScore } from "../../../format/format-number.ts";
import { Card } from "../../../ui/card.tsx";
import { Cell, HeaderCell, RowHeader, Table } from "../../../ui/table.tsx";
import type { ComparedEvaluator } from "../name-evaluator.ts";
import { RunMark } from "../run-mark.tsx";
import type { MarkedRun } from "../run-marks.ts";
import { axisOf } from "./axis.ts";
import { AxisLabels, DifferenceBar } from "./difference-bar.tsx";

interface StrataCardProps {
  evaluator: ComparedEvaluator;
  marked: readonly MarkedRun[];
}

interface Stratum extends ComparisonStratum {
  marked: MarkedRun;
}

const changeLabels: Record<string, string> = {
  changed: "The state changed",
  unchanged: "The state did not change",
  unknown: "Changes cannot be counted",
  "0": "No change",
  "1-2": "1–2 changes",
  "3-6": "3–6 changes",
  "7+": "7 changes and more",
};

/** Differences by how much the state changed in the recording. */
export function StrataCard({ evaluator, marked }: StrataCardProps) {
  const groups = ["changed", "changes"].map((name) =>
    strataOf(evaluator, marked, name as "changed" | "changes"),
  );
  const all = groups.flatMap((group) => [...group.values()].flat());
  if (all.length === 0) return null;
  const axis = axisOf(all.flatMap(({ difference, interval }) => rangeOf(difference, interval)));
  return (
    <Card
      title="By what changed"
      hint="Exploratory: these p-values are not corrected for their number. They show where to look."
    >
      <Table label="Differences by what changed">
        <thead>
          <tr className="border-b border-line">
            <HeaderCell>Samples</HeaderCell>
            <HeaderCell>Run</HeaderCell>
            <HeaderCell isNumber>Reference</HeaderCell>
            <HeaderCell isNumber>Mean</HeaderCell>
            <HeaderCell isNumber>Difference</HeaderCell>
            <HeaderCell className="min-w-48">95 % interval</HeaderCell>
            <HeaderCell isNumber>p</HeaderCell>
            <HeaderCell isNumber>Samples</HeaderCell>
          </tr>
        </thead>
        {groups.map((group, index) => (
          <tbody
            key={index === 0 ? "changed" : "changes"}
            className="border-b-2 border-line last-of-type:border-0"
          >
            {[...group].map(([key, strata]) =>
              strata.map((stratum, place) => (
                <tr key={`${key} ${stratum.marked.run.id}`}>
                  {place === 0 && (
                    <th
                      scope="rowgroup"
                      rowSpan={strata.length}
                      className="px-4 py-2 text-left align-middle font-normal whitespace-nowrap"
                    >
                      {changeLabels[key] ?? key}
                    </th>
                  )}
                  <RowHeader>
                    <RunMark {...stratum.marked} />
                  </RowHeader>
                  <StratumCells stratum={stratum} axis={axis} />
                </tr>
              )),
            )}
          </tbody>
        ))}
        <tfoot>
          <tr className="border-t border-line">
            <td colSpan={5} />
            <Cell>
              <AxisLabels axis={axis} />
            </Cell>
            <td colSpan={2} />
          </tr>
        </tfoot>
      </Table>
    </Card>
  );
}

function StratumCells({ stratum, axis }: { stratum: Stratum; axis: ReturnType<typeof axisOf> }) {
  const { reference_mean, mean, difference, interval, p_value, count, trajectories, marked } = stratum;
  return (
    <>
      <Cell isNumber>{formatScore(reference_mean)}</Cell>
      <Cell isNumber>{formatScore(mean)}</Cell>
      <Cell isNumber className="font-medium">
        {formatPoints(difference)}
      </Cell>
      <Cell>
        {difference !== null && (
          <DifferenceBar axis={axis} value={difference} interval={interval} color={marked.color} />
        )}
        <span className="sr-only">
          {interval === null ? "none" : `${formatPoints(interval.lower)} to ${formatPoints(interval.upper)}`}
        </span>
      </Cell>
      <Cell isNumber>{formatP(p_value)}</Cell>
      <Cell isNumber className="whitespace-nowrap">
        {formatCount(count)} <span className="text-ink-3">in {formatCount(trajectories)}</span>
      </Cell>
    </>
  );
}

/** Each group of samples, with a line for each compared run. */
function strataOf(
  evaluator: ComparedEvaluator,
  marked: readonly MarkedRun[],
  name: "changed" | "changes",
): Map<string, Stratum[]> {
  const strata = evaluator.candidates.flatMap((candidate) => {
    const one = marked.find(({ run }) => run.id === candidate.run_id);
    return one === undefined ? [] : candidate.strata[name].map((stratum) => ({ ...stratum, marked: one }));
  });
  return Map.groupBy(strata, ({ key }) => String(key));
}

function rangeOf(
  difference: number | null,
  interval: ComparisonStratum["interval"],
): { lower: number; upper: number }[] {
  if (difference === null) return [];
  return [interval ?? { lower: difference, upper: difference }];
}
