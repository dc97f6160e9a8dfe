import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { present, readText } from "../../search-params.ts";

export const directions = ["worse", "better"] as const;

export type CompareSearch = ReturnType<typeof readCompareSearch>;

/** Reads the URL of the comparison; invalid values are ignored. */
export function readCompareSearch(search: Record<string, unknown>) {
  const runs = readRunIds(readText(search.runs));
  return present({
    /** Run ids, separated by commas. The first is the reference. */
    runs: runs.length > 0 ? runs.join(",") : undefined,
    /** The key of an evaluator. Absent: the first evaluator. */
    evaluator: readText(search.evaluator),
    /** The id of the run whose samples are listed. Absent: the first run after the reference. */
    with: readText(search.with),
    /** Absent: the samples that got worse, if there are any. */
    direction: directions.find((known) => known === search.direction),
    /** The values of the curves by step. Absent: the mean scores. */
    curves: search.curves === "differences" ? ("differences" as const) : undefined,
    /** The sample that is open, as TRAJECTORY/STEP. */
    open: readText(search.open),
  });
}

/** The greatest number of runs in a comparison: one for each colour and letter. */
export const maxRuns = 5;

/** The ids without repetitions, limited to the number that can be compared. */
export function readRunIds(runs: string | undefined): string[] {
  const ids = (runs ?? "").split(",").filter((id) => id !== "");
  return [...new Set(ids)].slice(0, maxRuns);
}

type Changes = { [Name in keyof CompareSearch]?: CompareSearch[Name] | undefined };

export interface CompareState {
  search: CompareSearch;
  runIds: string[];
  /** Writes changes to the URL; undefined removes a value. */
  change(changes: Changes, options?: { replace?: boolean }): void;
  /** Compares other runs, and resets what belongs to the previous ones. */
  choose(runIds: readonly string[]): void;
}

const route = getRouteApi("/compare");

export function useCompare(): CompareState {
  const search = route.useSearch();
  const navigate = useNavigate({ from: "/compare" });
  const change: CompareState["change"] = (changes, { replace = false } = {}) => {
    navigate({ search: (current) => present({ ...current, ...changes }), replace, resetScroll: false });
  };
  return {
    search,
    runIds: readRunIds(search.runs),
    change,
    choose: (runIds) =>
      change({ runs: runIds.length === 0 ? undefined : runIds.join(","), with: undefined, open: undefined }),
  };
}

export interface SamplePlace {
  trajectory_id: string;
  step: number;
}

export function writePlace({ trajectory_id, step }: SamplePlace): string {
  return `${trajectory_id}/${step}`;
}

export function readPlace(text: string | undefined): SamplePlace | undefined {
  const [, trajectory_id, step] = /^(.+)\/(\d{1,9})$/s.exec(text ?? "") ?? [];
  return trajectory_id === undefined ? undefined : { trajectory_id, step: Number(step) };
}
