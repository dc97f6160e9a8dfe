import type { ReportEvaluator, RunSampleFilter, RunSampleOrder, RunSampleView } from "@presage/sdk";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { inPlace, present } from "../../../search-params.ts";
import type { Sort } from "../../../ui/data-table/table-view.ts";
import { type MatrixSearch, readMatrixSearch } from "../runs-search.ts";

/** The request for an address. Absent values are left out, so that equal views have equal query keys. */
export function toMatrixRequest(
  search: MatrixSearch,
  sort: Sort | undefined,
  evaluators: readonly ReportEvaluator[],
): RunSampleFilter & RunSampleView {
  const { judge: index = 0, verdict, recorded, failed, trajectory, at } = search;
  const judge = verdict === undefined ? undefined : evaluators[index];
  const request = {
    ...(judge && {
      evaluator: judge.evaluator,
      profile_name: judge.profile_name ?? undefined,
      pass: verdict === "pass",
    }),
    status: failed ? ("failed" as const) : undefined,
    changed: recorded === undefined ? undefined : recorded === "changed",
    trajectory_id: trajectory,
    step: at,
    ...toOrder(sort, evaluators),
  };
  return present(request);
}

/** Columns that the server can sort by, and its names for them. */
const orders: Record<string, RunSampleOrder> = {
  step: "step",
  changes: "changes",
  tokens: "completion_tokens",
  latency: "latency",
};

function toOrder(
  sort: Sort | undefined,
  evaluators: readonly ReportEvaluator[],
): Pick<RunSampleView, "order" | "order_evaluator" | "order_profile_name"> {
  if (sort === undefined) return {};
  const sign = sort.isDescending ? "-" : "";
  const index = evaluators.findIndex((_, index) => evaluatorColumnId(index) === sort.id);
  const judge = evaluators[index];
  if (judge !== undefined) {
    return {
      order: `${sign}score`,
      order_evaluator: judge.evaluator,
      ...(judge.profile_name !== null && { order_profile_name: judge.profile_name }),
    };
  }
  const order = orders[sort.id];
  return order === undefined ? {} : { order: `${sign}${order}` as RunSampleOrder };
}

/** The id of an evaluator's column, by the evaluator's index in the run. */
export function evaluatorColumnId(index: number): string {
  return `e${index}`;
}

type MatrixChanges = { [Name in keyof MatrixSearch]?: MatrixSearch[Name] | undefined };

interface MatrixView {
  search: MatrixSearch;
  /** Writes changes to the URL; undefined removes a value. */
  change(changes: MatrixChanges): void;
}

/** The matrix's search parameters on a page whose `validateSearch` has `readMatrixSearch`. */
export function useMatrixSearch(): MatrixView {
  const search = useSearch({ strict: false });
  const navigate = useNavigate();
  return {
    search: readMatrixSearch({ ...search }),
    change(changes) {
      void navigate({
        to: ".",
        search: (current: Record<string, unknown>) => present({ ...current, ...changes }),
        ...inPlace,
      });
    },
  };
}
