import type { Goal } from "../../report/goal.ts";
import type { SearchResult } from "./measure-search.ts";
import { summaryMs, worstPage } from "./search-figures.ts";

const mostGrowth = 1.5;
const mostSummaryMs = { byDay: 100, byTag: 300 };

export const judgeSearch = (result: SearchResult, [smallest = 0, size = 0]: readonly number[]): Goal[] => {
  const { database } = result;
  const show = (results: number) => results.toLocaleString("en-US");
  const worst = worstPage(result, size);
  const judgeSummary = (goal: keyof typeof mostSummaryMs, text: string): Goal => {
    const ms = summaryMs(result, size, goal);
    return {
      text: `${database}: a summary ${text} over ${show(size)} results in less than ${mostSummaryMs[goal]} ms, from the rollup`,
      measured: ms === undefined ? "not measured" : `${ms.toFixed(0)} ms`,
      met: ms === undefined ? undefined : ms < mostSummaryMs[goal],
    };
  };
  // A failed filter was not measured and might have been the worst.
  const isWhole = result.problems.length === 0;
  return [
    {
      text: `${database}: for every filter, a page at ${show(size)} results takes at most 1.5 times as long as at ${show(smallest)}`,
      measured:
        worst === undefined ? "not measured" : `${worst.ratio.toFixed(2)} times at worst (${worst.name})`,
      met: worst === undefined ? undefined : isWhole && worst.ratio <= mostGrowth,
    },
    judgeSummary("byDay", "by day"),
    judgeSummary("byTag", "by a tag of few values"),
  ];
};
