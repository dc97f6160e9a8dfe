import type { Run } from "@presage/sdk";
import type { Headline } from "../../data/runs/recent-runs.ts";
import { counted } from "../../format/counted.ts";
import { describeInterval } from "../../format/describe-rate.ts";
import { formatCount, formatShare } from "../../format/format-number.ts";
import { shortEvaluatorNames } from "../../format/short-evaluator-names.ts";
import { IntervalBar } from "../../ui/charts/interval-bar.tsx";
import { Tooltip } from "../../ui/overlay/tooltip.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";

export const maxShown = 3;

interface RunFiguresProps {
  run: Run;
  /** Undefined while loading. */
  headlines: Headline[] | undefined;
  hasFailed: boolean;
}

/** One line for each of a run's first evaluators: their number is known before the figures are. */
export function RunFigures({ run, headlines, hasFailed }: RunFiguresProps) {
  const expected = Math.max(1, Math.min(maxShown, run.evaluators.length));
  const nameOf = shortEvaluatorNames(run.evaluators.map(({ evaluator }) => evaluator));
  return (
    <ul className="flex flex-col gap-0.5">
      {Array.from({ length: expected }, (_, index) => {
        const figures = headlines?.[index];
        const evaluator = figures?.evaluator ?? run.evaluators[index]?.evaluator ?? "";
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a run's evaluators keep their order
          <li key={index} className="flex h-5 items-center gap-3 text-sm">
            <span className="w-28 shrink-0 truncate text-ink-2 sm:w-36">{nameOf(evaluator)}</span>
            {figures !== undefined ? (
              <Figure figures={figures} />
            ) : headlines === undefined && !hasFailed ? (
              <Skeleton className="h-3 w-56" />
            ) : (
              <span className="text-ink-3">{hasFailed ? "could not be read" : "–"}</span>
            )}
          </li>
        );
      })}
    </ul>
  );
}

/** Figure, interval and baseline; on hover and focus, what they are. */
function Figure({ figures }: { figures: Headline }) {
  const { pass_rate, pass_interval, no_change } = figures;
  if (pass_rate === null) return <span className="text-ink-3">no verdicts yet</span>;
  const baseline = no_change === null ? undefined : no_change.pass_rate;
  return (
    <Tooltip text={explain(figures)}>
      <span tabIndex={0} className="flex min-w-0 flex-1 items-center gap-3 rounded-sm">
        <span className="w-14 shrink-0 text-right font-medium tabular-nums">{formatShare(pass_rate)}</span>
        <span aria-hidden className="min-w-20 flex-1">
          <IntervalBar
            value={pass_rate}
            lower={pass_interval?.lower ?? pass_rate}
            upper={pass_interval?.upper ?? pass_rate}
            baseline={baseline}
          />
        </span>
        <span className="w-32 shrink-0 truncate hidden text-xs text-ink-3 sm:block lg:hidden xl:block tabular-nums">
          {baseline === undefined ? "" : `no change ${formatShare(baseline)}`}
        </span>
      </span>
    </Tooltip>
  );
}

function explain({ pass_interval, count, trajectories, failed, no_change, profile_name }: Headline): string {
  const of = `Share of ${counted(count, "sample")} in ${counted(trajectories, "trajectory", "trajectories")} that pass${profile_name === null ? "" : ` by ${profile_name}`}.`;
  const interval =
    pass_interval === null
      ? "No interval: all are in one trajectory."
      : `95 % interval ${describeInterval(pass_interval)}, Wilson’s with the standard error clustered by trajectory.`;
  const failures =
    failed === 0
      ? ""
      : ` ${counted(failed, "prediction")} failed and ${failed === 1 ? "is" : "are"} not counted.`;
  const baseline =
    no_change === null
      ? ""
      : ` Predicting no change passes in ${formatShare(no_change.pass_rate)} of ${formatCount(no_change.count)}.`;
  return `${of} ${interval}${failures}${baseline}`;
}
