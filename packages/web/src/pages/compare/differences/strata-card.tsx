import { formatPoints, measureNames } from "@presage/contract/describe-runs";
import type { ComparisonStratum } from "@presage/sdk";
import { countedIn, formatP } from "../../../format/numbers.ts";
import { type ComparedEvaluator, measureOf } from "../../../parts/evaluator-names.ts";
import { Card } from "../../../ui/card.tsx";
import { IntervalTable } from "../../../ui/charts/interval-table.tsx";
import { type MarkedRun, nameRun, RunMark } from "../run-mark.tsx";

interface StrataCardProps {
  evaluator: ComparedEvaluator;
  marked: readonly MarkedRun[];
}

interface Stratum extends ComparisonStratum {
  marked: MarkedRun;
}

const labels: Record<string, string> = {
  "changed unchanged": "State does not change",
  "changed changed": "State changes",
  "changes 1-2": "1–2 changes",
  "changes 3-6": "3–6 changes",
  "changes 7+": "7 changes or more",
  "changes unknown": "Changes cannot be counted",
};

/** Differences, grouped by how much the state changed in the recording. */
export function StrataCard({ evaluator, marked }: StrataCardProps) {
  const rows = Object.entries(labels).flatMap(([name, label]) =>
    strataOf(evaluator, marked, name).map((stratum) => ({ stratum, label, name })),
  );
  if (rows.length === 0) return null;
  return (
    <Card
      title="Differences by what changed"
      hint="Exploratory: these p-values are not corrected for their number. They show where to look."
    >
      <IntervalTable
        mark="dot"
        label="Differences by what changed"
        rowLabel="Samples and run"
        valueLabel="Points"
        explanation={`Difference of the ${measureNames[measureOf(evaluator)]}s from the reference’s, in percentage points, on such samples. The interval has every difference that flipped signs of the trajectories’ sums do not reject.`}
        most={24}
        counted="Samples with a verdict in both. How many trajectories they are in"
        format={formatPoints}
        rows={rows.map(({ stratum, label, name }) => ({
          key: `${name} ${stratum.marked.run.id}`,
          label: `${label}, ${nameRun(stratum.marked, marked)}`,
          shown: (
            <span className="flex items-center gap-2">
              <RunMark {...stratum.marked} />
              {label}
            </span>
          ),
          value: stratum.difference,
          lower: stratum.interval?.lower,
          upper: stratum.interval?.upper,
          color: stratum.marked.color,
          pValue: formatP(stratum.p_value),
          count: stratum.count,
          basis: countedIn(stratum.count, stratum.trajectories),
        }))}
        note={
          rows.some(({ stratum }) => stratum.interval === null)
            ? "No interval: fewer than 6 trajectories, or all differ alike."
            : undefined
        }
      />
    </Card>
  );
}

/** The figures of a group of samples for each compared run; `name` consists of the kind of the groups and the group's key. */
function strataOf(evaluator: ComparedEvaluator, marked: readonly MarkedRun[], name: string): Stratum[] {
  const [kind, wanted] = name.split(" ");
  return evaluator.candidates.flatMap(({ run_id, strata }) => {
    const one = marked.find(({ run }) => run.id === run_id);
    const groups = kind === "changed" ? strata.changed : strata.changes;
    return one === undefined
      ? []
      : groups.filter(({ key }) => String(key) === wanted).map((stratum) => ({ ...stratum, marked: one }));
  });
}
