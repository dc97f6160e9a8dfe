import type { EpisodeSummary } from "@presage/sdk";
import { formatScore } from "../../../format/numbers.ts";
import { taskNameOf } from "../../../format/words.ts";
import { describeStopReason, EpisodeBadge } from "../../../parts/episodes.tsx";
import type { DataColumn } from "../../../ui/data-table/columns.ts";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";

export const episodeColumns: DataColumn<EpisodeSummary>[] = [
  {
    id: "task",
    label: "Task",
    hint: "The task’s index in its split",
    value: taskNameOf,
    widthPx: 108,
    isFixed: true,
  },
  {
    id: "instruction",
    label: "Instruction",
    hint: "The beginning of what the agent is told to do, or of the task’s goal",
    value: ({ instruction }) => instruction,
    cell: ({ instruction }) =>
      instruction === null ? (
        <span className="text-ink-3">–</span>
      ) : (
        <span className="line-clamp-2 text-xs whitespace-normal wrap-anywhere text-ink">
          <InlineText text={instruction} />
        </span>
      ),
    widthPx: 200,
    isElastic: true,
  },
  {
    id: "policy",
    label: "Policy",
    hint: "The agent that acted, as its client named it",
    value: ({ policy }) => policy,
    widthPx: 120,
  },
  {
    id: "outcome",
    label: "Outcome",
    hint: "How it ended. An open episode can be continued; an expired one was idle for 15 minutes",
    value: ({ status, outcome }) => (status === "finished" ? (outcome ?? "cut short") : status),
    cell: (episode) => <EpisodeBadge episode={episode} />,
    widthPx: 128,
  },
  {
    id: "steps",
    label: "Steps",
    value: ({ steps_taken }) => steps_taken,
    isNumber: true,
    widthPx: 68,
  },
  {
    id: "reward",
    label: "Reward",
    hint: "The sum of its rewards",
    value: ({ reward }) => reward,
    cell: ({ reward }) => formatScore(reward),
    isNumber: true,
    widthPx: 80,
  },
  {
    id: "failed",
    label: "Failed",
    hint: "How many predictions failed. They are not part of the episode.",
    value: ({ failed_steps }) => failed_steps,
    isNumber: true,
    widthPx: 72,
  },
  {
    id: "reason",
    label: "Ended because",
    value: ({ stop_reason }) => stop_reason && describeStopReason(stop_reason),
    cell: ({ stop_reason }) =>
      stop_reason === null ? (
        <span className="text-ink-3">–</span>
      ) : (
        <span className="block truncate text-xs text-ink-2">
          <InlineText text={describeStopReason(stop_reason)} />
        </span>
      ),
    widthPx: 220,
    isElastic: true,
  },
  {
    id: "revision",
    label: "Revision",
    hint: "The environment’s revision, which the episode keeps",
    value: ({ revision }) => revision,
    isNumber: true,
    widthPx: 84,
  },
  {
    id: "started",
    label: "Started",
    value: ({ created_at }) => created_at,
    widthPx: 124,
    isNewestFirst: true,
  },
  {
    id: "seed",
    label: "Seed",
    value: ({ seed }) => seed,
    cell: ({ seed }) => seed ?? "–",
    isNumber: true,
    widthPx: 96,
    isExtra: true,
  },
  {
    id: "used",
    label: "Last used",
    value: ({ last_active_at }) => last_active_at,
    isNewestFirst: true,
    widthPx: 128,
    isExtra: true,
  },
  {
    id: "id",
    label: "ID",
    value: ({ id }) => id,
    cell: ({ id }) => <code className="font-mono text-xs">{id}</code>,
    widthPx: 300,
    isExtra: true,
  },
];
