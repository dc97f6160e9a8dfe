// The addresses of the list of runs, of a new run, and of a run's page with its report and samples.

import type { Run } from "@presage/sdk";
import type { NewRunSearch } from "../../parts/runs.tsx";
import { isStep } from "../../parts/step-search.ts";
import { isRevision, present, readText } from "../../search-params.ts";
import { readTableSearch } from "../../ui/data-table/table-view.ts";
import { measures } from "./report/describe-figures.ts";

export const statuses = [
  "queued",
  "running",
  "paused",
  "finished",
  "cancelled",
  "failed",
] as const satisfies Run["status"][];
export const modes = ["teacher-forced", "free-running"] as const satisfies Run["mode"][];

export type RunsSearch = ReturnType<typeof readRunsSearch>;

/** Reads the URL of the list of runs; invalid values are ignored. */
export function readRunsSearch(search: Record<string, unknown>) {
  return present({
    ...readTableSearch(search),
    /** A part of the name, the target or a tag. */
    q: readText(search.q),
    status: statuses.find((known) => known === search.status),
    mode: modes.find((known) => known === search.mode),
    dataset: stringOf(search.dataset),
    /** The ids of chosen runs, separated by commas. */
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

const matrixVerdicts = ["pass", "fail"] as const;
const recordedChanges = ["changed", "unchanged"] as const;

const tabs = ["report", "samples"] as const;

/** Reads the URL of a run, for its report and its samples; invalid values are ignored. */
export function readRunSearch(search: Record<string, unknown>) {
  return present({
    /** Absent: the report. */
    tab: tabs.find((known) => known === search.tab),
    /** The key of the evaluator whose groups are shown. Absent: the first evaluator. */
    evaluator: stringOf(search.evaluator),
    /** Absent: the pass rate. */
    measure: measures.find((known) => known === search.measure),
    ...readMatrixSearch(search),
  });
}

export type MatrixSearch = ReturnType<typeof readMatrixSearch>;

/** Reads the URL of a run's samples, where evaluators are their indexes in the run; invalid values are ignored. */
export function readMatrixSearch(search: Record<string, unknown>) {
  const { judge, at, repeat, failed } = search;
  return present({
    /** The evaluator that `verdict` refers to; absent: the first. */
    judge: isStep(judge) ? judge : undefined,
    verdict: matrixVerdicts.find((known) => known === search.verdict),
    /** Only samples whose state changed in the recording, or only those whose state did not. */
    recorded: recordedChanges.find((known) => known === search.recorded),
    /** Only predictions that failed. */
    failed: failed === true ? (true as const) : undefined,
    trajectory: readText(search.trajectory),
    at: isStep(at) ? at : undefined,
    /** The sample whose drawer is open. */
    sample: readText(search.sample),
    /** The repeat of that sample; absent: the first, 0. */
    repeat: isStep(repeat) && repeat > 0 ? repeat : undefined,
    ...readTableSearch(search),
  });
}
