import type { Environment, EpisodeFigures } from "@presage/sdk";
import type { ReactNode } from "react";
import { counted, describeInterval, formatCount, formatScore, formatShare } from "../../../format/numbers.ts";
import { IntervalBar } from "../../../ui/charts/sparkline.tsx";
import { ExplainedName } from "../../../ui/tooltip.tsx";
import { canSucceed, countSuccess, explainSuccess } from "../success-rate.tsx";

interface EnvironmentFiguresProps {
  environment: Environment;
  /** Undefined while loading, null without episodes. */
  figures: EpisodeFigures | null | undefined;
}

/** How the episodes of an environment went, in one row. */
export function EnvironmentFigures({ environment, figures }: EnvironmentFiguresProps) {
  const { success_rate: rate = null, success_interval: interval = null, finished = 0 } = figures ?? {};
  const cut = finished - (figures?.successes ?? 0) - (figures?.failures ?? 0);
  const shown = (value: string) => (figures === undefined ? "…" : value);
  return (
    <dl className="flex flex-wrap gap-px overflow-hidden rounded-lg border border-line bg-line">
      <Figure
        name="Success rate"
        explanation={
          canSucceed(environment.config)
            ? figures
              ? explainSuccess(figures)
              : "Successes among the episodes that have ended. There is none yet."
            : "No rule of this environment leads to success."
        }
        value={shown(
          !canSucceed(environment.config)
            ? "no goal"
            : figures && interval === null
              ? countSuccess(figures)
              : formatShare(rate),
        )}
      >
        {rate !== null && interval !== null ? (
          <span className="flex items-center gap-2 whitespace-nowrap">
            <span aria-hidden className="w-24">
              <IntervalBar value={rate} lower={interval.lower} upper={interval.upper} />
            </span>
            {describeInterval(interval)}
          </span>
        ) : (
          finished > 0 && "no interval: one task only"
        )}
      </Figure>
      <Figure
        name="Episodes"
        explanation="All episodes of all revisions. Open ones can be continued. Those that were not used for 15 minutes were left by their client, and are in no rate."
        value={shown(formatCount(figures?.episodes ?? 0))}
      >
        {figures && `${formatCount(figures.open)} open, ${formatCount(figures.expired)} expired`}
      </Figure>
      <Figure
        name="Ended"
        explanation="Episodes that have ended: with success, with failure, or cut short by the number of steps or a guard."
        value={shown(formatCount(finished))}
      >
        {figures &&
          [
            [figures.successes, "succeeded"] as const,
            [figures.failures, "failed"] as const,
            [cut, "cut short"] as const,
          ]
            .flatMap(([count, how]) => (count > 0 ? `${formatCount(count)} ${how}` : []))
            .join(", ")}
      </Figure>
      <Figure
        name="Steps"
        explanation={`Mean number of steps of ${counted(finished, "ended episode")}.`}
        value={shown(figures?.mean_steps?.toFixed(1) ?? "–")}
      >
        {figures && figures.failed_steps > 0
          ? `${counted(figures.failed_steps, "prediction")} failed`
          : figures && "no failed prediction"}
      </Figure>
      <Figure
        name="Reward"
        explanation={`Mean sum of rewards of ${counted(figures?.rewarded ?? 0, "ended episode")} with a reward.`}
        value={shown(formatScore(figures?.mean_reward ?? null))}
      >
        {figures && `n = ${formatCount(figures.rewarded)}`}
      </Figure>
    </dl>
  );
}

function Figure({
  name,
  explanation,
  value,
  children,
}: {
  name: string;
  explanation: string;
  value: string;
  children: ReactNode;
}) {
  return (
    <div className="flex min-w-0 flex-1 basis-32 flex-col bg-surface px-4 py-3">
      <dt className="text-xs text-ink-3">
        <ExplainedName name={name} explanation={explanation} />
      </dt>
      <dd className="text-xl font-semibold tracking-tight tabular-nums">{value}</dd>
      <dd className="min-h-4 text-xs text-ink-3 tabular-nums">{children}</dd>
    </div>
  );
}
