import { isStep } from "../../../parts/step-search.ts";
import { present, readText } from "../../../search-params.ts";
import { readTableSearch, type TableSearch } from "../../../ui/data-table/table-view.ts";

export const matrixVerdicts = ["pass", "fail"] as const;
const recordedChanges = ["changed", "unchanged"] as const;

/** What of a run's samples is shown. The evaluators are named by their places in the run. */
export interface MatrixSearch extends TableSearch {
  /** Whose verdict `verdict` is; absent: the first one's. */
  judge?: number;
  verdict?: (typeof matrixVerdicts)[number];
  /** Only samples whose state changed in the recording, or those whose state did not. */
  recorded?: (typeof recordedChanges)[number];
  /** Only predictions that failed. */
  failed?: true;
  trajectory?: string;
  at?: number;
  /** The sample whose drawer is open. */
  sample?: string;
  /** And which repeat of it; absent: the first, 0. */
  repeat?: number;
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
