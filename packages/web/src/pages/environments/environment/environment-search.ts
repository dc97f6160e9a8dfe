import type { EpisodeEnding, EpisodeGrouping, EpisodeStatus, TaskSplitName } from "@presage/sdk";
import { isRevision } from "../../../search-params.ts";
import { readTableSearch, type TableSearch } from "../../../ui/data-table/table-view.ts";

const tabs = ["episodes", "tasks", "success", "definition"] as const;
type EnvironmentTab = (typeof tabs)[number];
export const splits = ["train", "validation", "test"] as const satisfies TaskSplitName[];
export const statuses = ["open", "finished", "expired"] as const satisfies EpisodeStatus[];
export const outcomes = ["success", "failure", "none"] as const satisfies EpisodeEnding[];
const groupings = ["revision", "deployment", "split"] as const satisfies EpisodeGrouping[];

/** What of an environment is shown. */
export interface EnvironmentSearch extends TableSearch {
  /** Absent: the episodes. */
  tab?: EnvironmentTab;
  split?: TaskSplitName;
  /** A task's place in its split. */
  index?: number;
  status?: EpisodeStatus;
  outcome?: EpisodeEnding;
  revision?: number;
  /** What the success rate is shown by; absent: revision. */
  by?: (typeof groupings)[number];
  /** The revision that another is compared with; absent: the one before the latest. */
  before?: number;
  /** Absent: the latest. */
  after?: number;
}

/** Reads the URL; invalid values are ignored. */
export function readEnvironmentSearch(search: Record<string, unknown>): EnvironmentSearch {
  const { index, revision, before, after } = search;
  return {
    ...readTableSearch(search),
    ...chosen("tab", tabs, search),
    ...chosen("split", splits, search),
    ...(Number.isSafeInteger(index) && Number(index) >= 0 && { index: Number(index) }),
    ...chosen("status", statuses, search),
    ...chosen("outcome", outcomes, search),
    ...(isRevision(revision) && { revision }),
    ...chosen("by", groupings, search),
    ...(isRevision(before) && { before }),
    ...(isRevision(after) && { after }),
  };
}

function chosen<Name extends string, Value extends string>(
  name: Name,
  values: readonly Value[],
  search: Record<string, unknown>,
): Partial<Record<Name, Value>> {
  const value = values.find((known) => known === search[name]);
  return value === undefined ? {} : ({ [name]: value } as Record<Name, Value>);
}

/** The episode being played. */
interface PlaySearch {
  split?: TaskSplitName;
  index?: number;
  /** Absent until the first step. */
  episode?: string;
}

/** Reads the URL; invalid values are ignored. */
export function readPlaySearch(search: Record<string, unknown>): PlaySearch {
  const { index, episode } = search;
  return {
    ...chosen("split", splits, search),
    ...(Number.isSafeInteger(index) && Number(index) >= 0 && { index: Number(index) }),
    ...(typeof episode === "string" && /^[0-9a-f-]{36}$/i.test(episode) && { episode }),
  };
}
