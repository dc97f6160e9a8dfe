import type { Run } from "@presage/sdk";
import { describeTarget } from "../../../format/describe-target.ts";
import type { RunsSearch } from "./runs-search.ts";

/** The runs that the filters choose. */
export function findRuns(runs: readonly Run[], { q = "", status, mode, dataset }: RunsSearch): Run[] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  return runs.filter((run) => {
    if (status !== undefined && run.status !== status) return false;
    if (mode !== undefined && run.mode !== mode) return false;
    if (dataset !== undefined && run.dataset_id !== dataset) return false;
    const tags = Object.entries(run.tags ?? {}).map((tag) => tag.join("="));
    const text = [run.name, run.id, describeTarget(run.target), ...tags].join("\n").toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
