import type { EnvironmentConfig, EpisodeFigures } from "@presage/sdk";
import { counted, describeInterval, formatCount, formatShare } from "../../format/numbers.ts";
import { IntervalBar } from "../../ui/charts/sparkline.tsx";
import { Explained } from "../../ui/tooltip.tsx";

/** With fewer tasks an interval is itself uncertain. */
const enoughTasks = 10;

/** Whether an episode can end with success. */
export function canSucceed({ stop }: EnvironmentConfig): boolean {
  return stop?.some(({ outcome }) => outcome === "success") ?? false;
}

/** “31 of 40 episodes that ended, with 20 tasks; 5 were left by their client” */
export function describeSuccess({ successes, finished, expired, tasks }: EpisodeFigures): string {
  const left =
    expired === 0 ? "" : `; ${formatCount(expired)} ${expired === 1 ? "was" : "were"} left by their client`;
  return `${formatCount(successes)} of ${counted(finished, "episode")} that ended, with ${counted(tasks, "task")}${left}`;
}

/** “31 of 40, 5 expired” */
export function countSuccess({ successes, finished, expired }: EpisodeFigures): string {
  return `${formatCount(successes)} of ${formatCount(finished)}${expired === 0 ? "" : `, ${formatCount(expired)} expired`}`;
}

/** Explains what the rate is and how its interval was made. */
export function explainSuccess(figures: EpisodeFigures): string {
  if (figures.finished === 0) return `${describeSuccess(figures)}.`;
  const interval = figures.success_interval;
  const range =
    interval === null
      ? "There is no interval: all episodes have the same task, which does not show how far others differ."
      : `95\u00a0% confidence interval: ${describeInterval(interval)}, where episodes of one task count as one group.${figures.tasks < enoughTasks ? " There are few tasks, so it is uncertain." : ""}`;
  return `${describeSuccess(figures)}. ${range}`;
}

/** How many of the ended episodes were successful, and their share if it has an interval. */
export function SuccessRate({
  figures,
  config,
}: {
  figures: EpisodeFigures | undefined;
  config: EnvironmentConfig;
}) {
  if (!canSucceed(config))
    return (
      <Explained text="No rule of this environment leads to success." className="text-ink-3">
        no goal
      </Explained>
    );
  if (figures === undefined) return <span className="text-ink-3">–</span>;
  const { success_rate: rate, success_interval: interval } = figures;
  return (
    <Explained text={explainSuccess(figures)} className="flex flex-wrap items-center gap-x-2 tabular-nums">
      {rate !== null && interval !== null && (
        <>
          <span className="w-14 shrink-0 text-ink">{formatShare(rate)}</span>
          <span aria-hidden className="w-16 shrink-0 max-md:hidden">
            <IntervalBar value={rate} lower={interval.lower} upper={interval.upper} />
          </span>
          <span className="text-xs whitespace-nowrap text-ink-2">
            <span className="sr-only">, </span>
            {describeInterval(interval)}
          </span>
        </>
      )}
      <span className="text-xs whitespace-nowrap text-ink-3">{countSuccess(figures)}</span>
    </Explained>
  );
}
