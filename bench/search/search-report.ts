import { type Goal, judge, none, showCount, showTimes, tableOf } from "../lib/figures.ts";
import type { Part } from "../lib/part.ts";
import {
  fullSearchPlan,
  measureSearch,
  quickSearchPlan,
  type SearchPlan,
  type SearchResult,
  summariesOfTheGoals,
  type Timing,
} from "./search.ts";

export const searchPart: Part = {
  title: "Searches and summaries",
  measure: async ({ group, upstream, quick }) => {
    const plan = quick ? quickSearchPlan : fullSearchPlan;
    const { origin } = await upstream();
    const results = [
      await measureSearch(group, origin, "SQLite", plan),
      await measureSearch(group, origin, "PostgreSQL", plan),
    ];
    return {
      goals: results.flatMap((result) => judgeSearch(result, plan.sizes[result.database])),
      problems: results.flatMap(({ database, problems }) =>
        problems.map((problem) => `${database}: ${problem}`),
      ),
      text: writeSearches(results, plan),
    };
  },
};

const ratioBetween = (
  { medianMs }: Timing,
  size: number,
  smallest: number | undefined,
): number | undefined => {
  const large = medianMs.get(size);
  const small = smallest === undefined ? undefined : medianMs.get(smallest);
  return large === undefined || small === undefined ? undefined : large / small;
};

const mostGrowth = 1.5;
const mostSummaryMs = { byDay: 100, byTag: 300 };

const judgeSearch = (result: SearchResult, [smallest = 0, size = 0]: readonly number[]): Goal[] => {
  const { database, pages, sizes, summaries } = result;
  /** The filter whose page slows down most between the smallest size and this one. */
  const [worst] = pages
    .map((page) => ({ name: page.name, ratio: ratioBetween(page, size, sizes[0]) ?? Number.NaN }))
    .toSorted((left, right) => right.ratio - left.ratio);
  const judgeSummary = (goal: keyof typeof mostSummaryMs, text: string): Goal => {
    const summary = summaries.find(({ name }) => name === summariesOfTheGoals[goal]);
    return judge(
      `${database}: a summary ${text} over ${showCount(size)} results in less than ${mostSummaryMs[goal]} ms, from the rollup`,
      // Not measured if it did not come from the rollup alone.
      summary?.returned.includes("results") ? undefined : summary?.medianMs.get(size),
      (ms) => ms < mostSummaryMs[goal],
      (ms) => `${ms.toFixed(0)} ms`,
    );
  };
  // A failed filter was not measured and might have been the worst.
  const isWhole = result.problems.length === 0;
  return [
    judge(
      `${database}: for every filter, a page at ${showCount(size)} results takes at most 1.5 times as long as at ${showCount(smallest)}`,
      worst?.ratio,
      (ratio) => isWhole && ratio <= mostGrowth,
      (ratio) => `${showTimes(ratio)} at worst (${worst?.name})`,
    ),
    judgeSummary("byDay", "by day"),
    judgeSummary("byTag", "by a tag of few values"),
  ];
};

const writeTimings = (
  title: string,
  timings: readonly Timing[],
  { sizes, floor }: SearchResult,
  returned: string,
): string => {
  const [smallest, ...larger] = sizes;
  return tableOf(floor === undefined ? timings : [floor, ...timings], [
    [title, ({ name }) => name],
    ...sizes.map(
      (size) =>
        [`${showCount(size)}, ms`, ({ medianMs }: Timing) => medianMs.get(size)?.toFixed(2) ?? none] as const,
    ),
    ...larger.map(
      (size) =>
        [
          `${showCount(size)} to ${showCount(smallest ?? 0)}`,
          (timing: Timing) => ratioBetween(timing, size, smallest)?.toFixed(2) ?? none,
        ] as const,
    ),
    [returned, (timing) => timing.returned],
  ]);
};

const writeSearch = (result: SearchResult): string => {
  const database = `### ${result.database}`;
  if (result.sizes.length === 0) return `\n${database}\nNot measured: ${result.problems.join("; ")}.\n`;
  return `
${database}: pages of 50
${writeTimings("filter", result.pages, result, "results")}

${database}: summaries
The rollup has ${result.filled.map(({ cells }) => showCount(cells)).join(", ")} cells.

${writeTimings("summary", result.summaries, result, "groups, from")}
`;
};

const writeSearches = (results: readonly SearchResult[], plan: SearchPlan): string => `
- The data are inserted by SQL, not through the API: 30 days of one account's results; 6 apps, 8 evaluators with 3 profiles each, runs of 500 and
  one large run, 2 tags each, datasets, 1.2 % without a verdict, 0.5 % corrected. Half of the evaluators are binary, judges score in
  quarters, a quarter of the results have scores to a thousandth. Rare values are 1 to 3 % of the results, or about 100 results ("few").
  The rollup is computed from the rows afterwards. PostgreSQL's indexes are created after the rows, and it is vacuumed and analysed.
- Over HTTP, one request at a time, the sizes in turn; medians of ${plan.pageRepeats} pages and of ${plan.summaryRepeats} summaries (fewer for those
  that take more than half a second) after a warm-up. The file cache is warm. PostgreSQL has its default memory settings.
- \`whoami\` is the floor: the same path through HTTP and the key check, without a search. A ratio of two times close to it is mostly HTTP.
${results.map(writeSearch).join("")}`;
