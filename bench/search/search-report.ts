import { type Goal, none, table } from "../lib/figures.ts";
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

const ratioBetween = (
  { medianMs }: Timing,
  size: number,
  smallest: number | undefined,
): number | undefined => {
  const large = medianMs.get(size);
  const small = smallest === undefined ? undefined : medianMs.get(smallest);
  return large === undefined || small === undefined ? undefined : large / small;
};

/** The filter whose page slows down most between the smallest size and this one. */
const worstPage = (
  { pages, sizes }: SearchResult,
  size: number,
): { readonly name: string; readonly ratio: number } | undefined =>
  pages
    .map((page) => ({ name: page.name, ratio: ratioBetween(page, size, sizes[0]) ?? Number.NaN }))
    .toSorted((left, right) => right.ratio - left.ratio)[0];

/** Also undefined if it did not come from the rollup alone. */
const summaryMs = (
  { summaries }: SearchResult,
  size: number,
  goal: keyof typeof summariesOfTheGoals,
): number | undefined => {
  const summary = summaries.find(({ name }) => name === summariesOfTheGoals[goal]);
  return summary?.returned.includes("results") ? undefined : summary?.medianMs.get(size);
};

const mostGrowth = 1.5;
const mostSummaryMs = { byDay: 100, byTag: 300 };

const judgeSearch = (result: SearchResult, [smallest = 0, size = 0]: readonly number[]): Goal[] => {
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

const writeTimings = (
  title: string,
  timings: readonly Timing[],
  { sizes, floor }: SearchResult,
  returned: string,
): string => {
  const show = (size: number) => size.toLocaleString("en-US");
  const [smallest, ...larger] = sizes;
  return table(
    [
      title,
      ...sizes.map((size) => `${show(size)}, ms`),
      ...larger.map((size) => `${show(size)} to ${show(smallest ?? 0)}`),
      returned,
    ],
    [...(floor === undefined ? [] : [floor]), ...timings].map((timing) => [
      timing.name,
      ...sizes.map((size) => timing.medianMs.get(size)?.toFixed(2) ?? none),
      ...larger.map((size) => ratioBetween(timing, size, smallest)?.toFixed(2) ?? none),
      timing.returned,
    ]),
  );
};

const writeSearch = (result: SearchResult): string => {
  const cells = result.sizes
    .map((size) => result.filled.get(size)?.cells.toLocaleString("en-US") ?? none)
    .join(", ");
  const database = `### ${result.database}`;
  if (result.sizes.length === 0) return `\n${database}\nNot measured: ${result.problems.join("; ")}.\n`;
  return `
${database}: pages of 50
${writeTimings("filter", result.pages, result, "results")}

${database}: summaries
The rollup has ${cells} cells.

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
