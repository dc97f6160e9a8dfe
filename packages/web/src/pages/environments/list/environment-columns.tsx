import type { Environment, EnvironmentConfig, EnvironmentReality, EpisodeFigures } from "@presage/sdk";
import { formatScore, formatShare } from "../../../format/numbers.ts";
import { Badge } from "../../../ui/badge.tsx";
import type { DataColumn } from "../../../ui/data-table/columns.ts";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import { SuccessRate } from "../success-rate.tsx";

export interface EnvironmentRow {
  environment: Environment;
  /** Undefined without episodes. */
  figures: EpisodeFigures | undefined;
  /** Undefined unless it was checked against reality. */
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
    widthPx: 160,
    isElastic: true,
    isFixed: true,
  },
  {
    id: "success",
    label: "Success",
    hint: "Successes among the episodes that have ended, with the 95\u00a0% interval clustered by task; with a single task there is none, and no rate. Those left were not used for 15 minutes, and count in no rate.",
    value: ({ figures }) => figures?.success_interval && figures.success_rate,
    cell: ({ environment, figures }) => <SuccessRate figures={figures} config={environment.config} />,
    widthPx: 232,
  },
  {
    id: "reality",
    label: "False success",
    hint: "Of the simulated successes that were checked, those that fail in reality. Its page has the interval, under Reality.",
    value: ({ reality }) => reality?.false_success_rate.value,
    cell: ({ reality }) => (
      <span title={reality?.sentence}>{formatShare(reality?.false_success_rate.value ?? null)}</span>
    ),
    isNumber: true,
    widthPx: 112,
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
    id: "open",
    label: "Open",
    hint: "Episodes that can be continued: used in the last 15 minutes and not ended",
    value: ({ figures }) => figures?.open ?? 0,
    isNumber: true,
    widthPx: 72,
    isExtra: true,
  },
  {
    id: "steps",
    label: "Steps",
    hint: "Mean number of steps of the ended episodes",
    value: ({ figures }) => figures?.mean_steps,
    cell: ({ figures }) => figures?.mean_steps?.toFixed(1) ?? "–",
    isNumber: true,
    widthPx: 76,
  },
  {
    id: "reward",
    label: "Reward",
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
  },
  {
    id: "deployment",
    label: "Played by",
    hint: "What predicts",
    value: ({ environment }) => playedBy(environment.config),
    cell: ({ environment }) => <InlineText text={playedBy(environment.config)} />,
    widthPx: 128,
  },
  {
    id: "max_steps",
    label: "Max steps",
    hint: "Longer episodes are cut short",
    value: ({ environment }) => environment.config.max_steps ?? 30,
    isNumber: true,
    widthPx: 96,
    isExtra: true,
  },
  {
    id: "last",
    label: "Last episode",
    hint: "When the newest episode was started",
    value: ({ figures }) => figures?.last_started_at,
    isNewestFirst: true,
    widthPx: 128,
  },
];

export function playedBy({ world, deployment }: EnvironmentConfig): string {
  return world ? `the world ${world}` : (deployment ?? "the default deployment");
}

export function taskCount({ tasks }: Environment): number {
  return Object.values(tasks).reduce((sum, count) => sum + count, 0);
}
