import type { EpisodeEnding, EpisodeGrouping, EpisodeStatus, TaskSplitName } from "@presage/sdk";
import { isStep } from "../../../parts/step-search.ts";
import { isRevision, present } from "../../../search-params.ts";
import { readTableSearch, type TableSearch } from "../../../ui/data-table/table-view.ts";

const tabs = ["episodes", "tasks", "success", "reality", "definition"] as const;
type EnvironmentTab = (typeof tabs)[number];
export const splits = ["train", "validation", "test"] as const satisfies TaskSplitName[];
export const statuses = ["open", "finished", "expired"] as const satisfies EpisodeStatus[];
export const outcomes = ["success", "failure", "none"] as const satisfies EpisodeEnding[];
const groupings = ["revision", "deployment", "split"] as const satisfies EpisodeGrouping[];

/** The search parameters of an environment's page. */
export interface EnvironmentSearch extends TableSearch {
  /** Absent: the episodes tab. */
  tab?: EnvironmentTab;
  split?: TaskSplitName;
  /** A task's index in its split. */
  index?: number;
  status?: EpisodeStatus;
  outcome?: EpisodeEnding;
  revision?: number;
  /** The grouping of the success rate; absent: by revision. */
  by?: (typeof groupings)[number];
  /** The earlier of two compared revisions; absent: the one before the latest. */
  before?: number;
  /** The later of two compared revisions; absent: the latest. */
  after?: number;
}

/** Reads the URL; invalid values are ignored. */
export function readEnvironmentSearch(search: Record<string, unknown>): EnvironmentSearch {
  const { index, revision, before, after } = search;
  return present({
    ...readTableSearch(search),
    tab: tabs.find((known) => known === search.tab),
    split: splits.find((known) => known === search.split),
    index: isStep(index) ? index : undefined,
    status: statuses.find((known) => known === search.status),
    outcome: outcomes.find((known) => known === search.outcome),
    revision: isRevision(revision) ? revision : undefined,
    by: groupings.find((known) => known === search.by),
    before: isRevision(before) ? before : undefined,
    after: isRevision(after) ? after : undefined,
  });
}

/** The search parameters of the page to play an environment. */
interface PlaySearch {
  split?: TaskSplitName;
  index?: number;
  /** Absent until the first step. */
  episode?: string;
}

/** Reads the URL; invalid values are ignored. */
export function readPlaySearch(search: Record<string, unknown>): PlaySearch {
  const { index, episode } = search;
  return present({
    split: splits.find((known) => known === search.split),
    index: isStep(index) ? index : undefined,
    episode: typeof episode === "string" && /^[0-9a-f-]{36}$/i.test(episode) ? episode : undefined,
  });
}
