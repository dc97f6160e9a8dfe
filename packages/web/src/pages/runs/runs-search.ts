// The addresses of the list of runs, of a new run, and of a run's page with its report and samples.

import type { Run } from "@presage/sdk";
import type { NewRunSearch } from "../../parts/runs.tsx";
import { isStep } from "../../parts/step-search.ts";
import { isRevision, present, readText } from "../../search-params.ts";
import { readTableSearch, type TableSearch } from "../../ui/data-table/table-view.ts";
import { type Measure, measures } from "./report/describe-figures.ts";

/** The search parameters of the list of runs. */
export interface RunsSearch extends TableSearch {
  /** A part of the name, the target or a tag. */
  q?: string;
  status?: Run["status"];
  mode?: Run["mode"];
  /** A dataset's id. */
  dataset?: string;
  /** The ids of chosen runs, separated by commas. */
  selected?: string;
}

export const statuses = [
  "queued",
  "running",
  "paused",
  "finished",
  "cancelled",
  "failed",
] as const satisfies Run["status"][];
export const modes = ["teacher-forced", "free-running"] as const satisfies Run["mode"][];

/** Reads the URL; invalid values are ignored. */
export function readRunsSearch(search: Record<string, unknown>): RunsSearch {
  return present({
    ...readTableSearch(search),
    q: readText(search.q),
    status: statuses.find((known) => known === search.status),
    mode: modes.find((known) => known === search.mode),
    dataset: stringOf(search.dataset),
    selected: stringOf(search.selected),
  });
}

/** Ids and keys are never numbers. */
function stringOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Reads the URL; invalid values are ignored. */
export function readNewRunSearch({ dataset, revision, world }: Record<string, unknown>): NewRunSearch {
  return present({
    dataset: stringOf(dataset),
    revision: isRevision(revision) ? revision : undefined,
    world: stringOf(world),
  });
}

export const matrixVerdicts = ["pass", "fail"] as const;
const recordedChanges = ["changed", "unchanged"] as const;

/** The search parameters of a run's samples. They refer to evaluators by their index in the run. */
export interface MatrixSearch extends TableSearch {
  /** The evaluator that `verdict` refers to; absent: the first. */
  judge?: number;
  verdict?: (typeof matrixVerdicts)[number];
  /** Only samples whose state changed in the recording, or only those whose state did not. */
  recorded?: (typeof recordedChanges)[number];
  /** Only predictions that failed. */
  failed?: true;
  trajectory?: string;
  at?: number;
  /** The sample whose drawer is open. */
  sample?: string;
  /** The repeat of that sample; absent: the first, 0. */
  repeat?: number;
}

const tabs = ["report", "samples"] as const;
type RunTab = (typeof tabs)[number];

/** The search parameters of a run, for its report and its samples. */
interface RunSearch extends MatrixSearch {
  /** Absent: the report. */
  tab?: RunTab;
  /** The key of the evaluator whose groups are shown. Absent: the first evaluator. */
  evaluator?: string;
  /** Absent: the pass rate. */
  measure?: Measure;
}

/** Reads the URL; invalid values are ignored. */
export function readRunSearch(search: Record<string, unknown>): RunSearch {
  return present({
    tab: tabs.find((known) => known === search.tab),
    evaluator: stringOf(search.evaluator),
    measure: measures.find((known) => known === search.measure),
    ...readMatrixSearch(search),
  });
}

/** Reads the URL; invalid values are ignored. */
export function readMatrixSearch(search: Record<string, unknown>): MatrixSearch {
  const { judge, at, repeat, failed } = search;
  return present({
    judge: isStep(judge) ? judge : undefined,
    verdict: matrixVerdicts.find((known) => known === search.verdict),
    recorded: recordedChanges.find((known) => known === search.recorded),
    failed: failed === true ? true : undefined,
    trajectory: readText(search.trajectory),
    at: isStep(at) ? at : undefined,
    sample: readText(search.sample),
    repeat: isStep(repeat) && repeat > 0 ? repeat : undefined,
    ...readTableSearch(search),
  });
}
