import type { EpisodeEnding, EpisodeGrouping, EpisodeStatus, TaskSplitName } from "@presage/sdk";
import { isStep } from "../../../parts/step-search.ts";
import { isRevision, present } from "../../../search-params.ts";
import { readTableSearch } from "../../../ui/data-table/table-view.ts";

const tabs = ["episodes", "tasks", "success", "reality", "definition"] as const;
export const splits = ["train", "validation", "test"] as const satisfies TaskSplitName[];
export const statuses = ["open", "finished", "expired"] as const satisfies EpisodeStatus[];
export const outcomes = ["success", "failure", "none"] as const satisfies EpisodeEnding[];
const groupings = ["revision", "deployment", "split"] as const satisfies EpisodeGrouping[];

export type EnvironmentSearch = ReturnType<typeof readEnvironmentSearch>;

/** Reads the URL of an environment's page; invalid values are ignored. */
export function readEnvironmentSearch(search: Record<string, unknown>) {
  const { index, revision, before, after } = search;
  return present({
    ...readTableSearch(search),
    /** Absent: the episodes tab. */
    tab: tabs.find((known) => known === search.tab),
    split: splits.find((known) => known === search.split),
    /** A task's index in its split. */
    index: isStep(index) ? index : undefined,
    status: statuses.find((known) => known === search.status),
    outcome: outcomes.find((known) => known === search.outcome),
    revision: isRevision(revision) ? revision : undefined,
    /** The grouping of the success rate; absent: by revision. */
    by: groupings.find((known) => known === search.by),
    /** Two revisions to compare; absent: the latest, and the one before it. */
    before: isRevision(before) ? before : undefined,
    after: isRevision(after) ? after : undefined,
  });
}

/** Reads the URL of the page to play an environment; invalid values are ignored. */
export function readPlaySearch(search: Record<string, unknown>) {
  const { index, episode } = search;
  return present({
    split: splits.find((known) => known === search.split),
    index: isStep(index) ? index : undefined,
    /** Absent until the first step. */
    episode: typeof episode === "string" && /^[0-9a-f-]{36}$/i.test(episode) ? episode : undefined,
  });
}
