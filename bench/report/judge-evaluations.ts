import type { EvaluationsPlan } from "../evaluations/plan-evaluations.ts";
import type { EvaluationsResult } from "../evaluations/run-evaluations.ts";
import type { SearchResult } from "../evaluations/search/measure-search.ts";
import { shareOfBareLoop, summaryMs, worstPage } from "./evaluation-figures.ts";
import type { Goal } from "./goal.ts";

const leastShare = 0.2;
const mostGrowth = 1.5;
const mostSummaryMs = { byDay: 100, byTag: 300 };

const judgeThroughput = (evaluations: EvaluationsResult | undefined, connections: number): Goal => {
  const text = `At ${connections} connections, at least 1/5 of a bare insert loop's results a second`;
  const share = evaluations === undefined ? undefined : shareOfBareLoop(evaluations.throughput)?.median;
  if (share === undefined) return { text, measured: "not measured", met: undefined };
  return { text, measured: `1/${(1 / share).toFixed(1)}`, met: share >= leastShare };
};

const judgeSearch = (
  database: string,
  [smallest = 0, size = 0]: readonly number[],
  result: SearchResult | undefined,
): Goal[] => {
  const show = (results: number) => results.toLocaleString("en-US");
  const worst = result === undefined ? undefined : worstPage(result, size);
  const judgeSummary = (goal: keyof typeof mostSummaryMs, text: string): Goal => {
    const ms = result === undefined ? undefined : summaryMs(result, size, goal);
    return {
      text: `${database}: a summary ${text} over ${show(size)} results in less than ${mostSummaryMs[goal]} ms, from the rollup`,
      measured: ms === undefined ? "not measured" : `${ms.toFixed(0)} ms`,
      met: ms === undefined ? undefined : ms < mostSummaryMs[goal],
    };
  };
  // A failed filter was not measured and might have been the worst.
  const isWhole = result !== undefined && result.problems.length === 0;
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

export const judgeEvaluations = (
  evaluations: EvaluationsResult | undefined,
  { throughput, search }: EvaluationsPlan,
): Goal[] => [
  judgeThroughput(evaluations, throughput.connections),
  ...Object.entries(search.sizes).flatMap(([database, sizes]) =>
    judgeSearch(
      database,
      sizes,
      evaluations?.search.find((result) => result.database === database),
    ),
  ),
];
