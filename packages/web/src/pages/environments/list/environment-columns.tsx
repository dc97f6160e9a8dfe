import type { Environment, EnvironmentConfig, EnvironmentReality, EpisodeFigures } from "@presage/sdk";
import { alarmIn, checkAboveLimit } from "../../../data/reality.ts";
import { formatCount, formatScore, formatShare } from "../../../format/numbers.ts";
import { Badge } from "../../../ui/badge.tsx";
import type { DataColumn } from "../../../ui/data-table/columns.ts";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import { SuccessRate } from "../success-rate.tsx";

export interface EnvironmentRow {
  environment: Environment;
  /** Undefined without episodes. */
  figures: EpisodeFigures | undefined;
  /** Undefined if the environment was never checked against reality. */
  reality: EnvironmentReality | undefined;
}

export const environmentColumns: DataColumn<EnvironmentRow>[] = [
  {
    id: "name",
    label: "Name",
    value: ({ environment }) => environment.name,
    cell: ({ environment: { name, config, is_built_in } }) => (
      <>
        <span className="flex items-center gap-2">
          <span className="truncate font-medium text-ink">{name}</span>
          {is_built_in && <Badge>built in</Badge>}
        </span>
        {config.description && (
          <span className="line-clamp-2 text-xs whitespace-normal text-ink-3">
            <InlineText text={config.description} />
          </span>
        )}
      </>
    ),
    widthPx: 240,
    isElastic: true,
    isFixed: true,
  },
  {
    id: "success",
    label: "Success",
    hint: "Successes among the episodes that have ended, with the 95\u00a0% interval clustered by task; with a single task there is none, and no rate. Those left were not used for 15 minutes, and count in no rate.",
    value: ({ figures }) => figures?.success_interval && figures.success_rate,
    cell: ({ environment, figures }) => <SuccessRate figures={figures} config={environment.config} />,
    widthPx: 200,
  },
  {
    id: "reality",
    label: "False success",
    hint: "Of the simulated successes that were checked, those that fail in reality. Its page has the interval, under Reality.",
    value: ({ figures, reality }) =>
      reality?.false_success_rate.value ?? (figures?.successes ? "not checked" : undefined),
    cell({ figures, reality }) {
      const limit = reality?.state?.false_success_limit ?? reality?.limited_check?.false_success_limit;
      return (
        <>
          <FalseSuccess figures={figures} reality={reality} />
          {limit !== undefined && (
            <span className="block text-xs text-ink-3">limit {formatShare(limit)}</span>
          )}
        </>
      );
    },
    isNumber: true,
    widthPx: 160,
  },
  {
    id: "episodes",
    label: "Episodes",
    hint: "All episodes: ended, open and expired ones",
    value: ({ figures }) => figures?.episodes ?? 0,
    isNumber: true,
    widthPx: 92,
  },
  {
    id: "steps",
    label: "Steps, mean",
    hint: "Mean number of steps of the ended episodes",
    value: ({ figures }) => figures?.mean_steps,
    cell: ({ figures }) => figures?.mean_steps?.toFixed(1) ?? "–",
    isNumber: true,
    widthPx: 76,
  },
  {
    id: "reward",
    label: "Reward, mean",
    hint: "Mean sum of rewards of the ended episodes that have any",
    value: ({ figures }) => figures?.mean_reward,
    cell: ({ figures }) => formatScore(figures?.mean_reward ?? null),
    isNumber: true,
    widthPx: 84,
  },
  {
    id: "tasks",
    label: "Tasks",
    hint: "Tasks of all splits",
    value: ({ environment }) => taskCount(environment),
    isNumber: true,
    widthPx: 76,
    isExtra: true,
  },
  {
    id: "deployment",
    label: "Played by",
    hint: "What predicts",
    value: ({ environment }) => playedBy(environment.config),
    cell: ({ environment }) => (
      <span className="line-clamp-2 whitespace-normal wrap-anywhere">
        <InlineText text={playedBy(environment.config)} />
      </span>
    ),
    widthPx: 152,
  },
  {
    id: "last",
    label: "Last episode",
    hint: "When the newest episode was started",
    value: ({ figures }) => figures?.last_started_at,
    isNewestFirst: true,
    widthPx: 120,
  },
];

/** The share of false successes, coloured if there is an alarm; successes that were not checked are a warning. */
export function FalseSuccess({ figures, reality }: Pick<EnvironmentRow, "figures" | "reality">) {
  const { value = null, count = 0 } = reality?.false_success_rate ?? {};
  if (reality === undefined || value === null)
    return (figures?.successes ?? 0) === 0 ? (
      <span className="text-ink-3">–</span>
    ) : (
      <Badge tone="warn">not checked</Badge>
    );
  const isBad = alarmIn(reality.state) !== undefined || checkAboveLimit(reality) != null;
  return (
    <span title={reality.sentence}>
      <span className={isBad ? "font-medium text-fail" : undefined}>{formatShare(value)}</span>{" "}
      <span className="text-xs font-normal tracking-normal whitespace-nowrap text-ink-3">
        of {formatCount(count)} checked
      </span>
    </span>
  );
}

export function playedBy({ world, deployment }: EnvironmentConfig): string {
  return world ? `world ${world}` : (deployment ?? "default deployment");
}

export function taskCount({ tasks }: Environment): number {
  return Object.values(tasks).reduce((sum, count) => sum + count, 0);
}
