import type { ScoreOrder } from "../../../data/evaluation/sample-pages.ts";
import type { Sort } from "../../../ui/data-table/table-search.ts";
import type { Judge } from "./group-by-sample.ts";
import { judgeColumnId } from "./sample-columns.tsx";

const separator = "~";

/** What the address says of the order: `-evaluator~profile`, with a minus from the highest score. */
export function readSampleSort(text: string | undefined): ScoreOrder | undefined {
  if (text === undefined) return undefined;
  const isDescending = text.startsWith("-");
  const name = isDescending ? text.slice(1) : text;
  const end = name.indexOf(separator);
  const evaluator = end === -1 ? name : name.slice(0, end);
  const profile = end === -1 ? null : name.slice(end + 1);
  return evaluator === "" ? undefined : { evaluator, profile: profile === "" ? null : profile, isDescending };
}

/** The sorted column; undefined where its evaluator has no results that match. */
export function sortOf(order: ScoreOrder | undefined, judges: readonly Judge[]): Sort | undefined {
  const judge = judges.find(
    ({ evaluator, profile }) => evaluator === order?.evaluator && profile === order.profile,
  );
  return order === undefined || judge === undefined
    ? undefined
    : { id: judgeColumnId(judge), isDescending: order.isDescending };
}

/** The order of a sorted column, for the address; undefined: in the order of samples. */
export function writeSampleSort(sort: Sort | undefined, judges: readonly Judge[]): string | undefined {
  const judge = judges.find((one) => judgeColumnId(one) === sort?.id);
  if (sort === undefined || judge === undefined) return undefined;
  const name = judge.profile === null ? judge.evaluator : `${judge.evaluator}${separator}${judge.profile}`;
  return sort.isDescending ? `-${name}` : name;
}
