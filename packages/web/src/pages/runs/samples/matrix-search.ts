import { isStep } from "../../../parts/step-search.ts";
import { readTableSearch, type TableSearch } from "../../../ui/data-table/table-search.ts";

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
  const verdict = matrixVerdicts.find((known) => known === search.verdict);
  const recorded = recordedChanges.find((known) => known === search.recorded);
  const trajectory = idOf(search.trajectory);
  const sample = idOf(search.sample);
  return {
    ...(isStep(judge) && { judge }),
    ...(verdict && { verdict }),
    ...(recorded && { recorded }),
    ...(failed === true && { failed }),
    ...(trajectory !== undefined && { trajectory }),
    ...(isStep(at) && { at }),
    ...(sample !== undefined && { sample }),
    ...(isStep(repeat) && repeat > 0 && { repeat }),
    ...readTableSearch(search),
  };
}

/** An id may look like a number or a boolean. */
function idOf(value: unknown): string | undefined {
  const text = typeof value === "number" || typeof value === "boolean" ? String(value) : value;
  if (typeof text !== "string" || text === "" || text.includes("\0") || !text.isWellFormed())
    return undefined;
  return text;
}
