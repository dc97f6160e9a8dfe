import { none, table } from "../../report/markdown.ts";
import type { SearchResult, Timing } from "./measure-search.ts";
import type { SearchPlan } from "./plan-search.ts";
import { ratioBetween } from "./search-figures.ts";

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

export const writeSearches = (results: readonly SearchResult[], plan: SearchPlan): string => `
- The data are inserted by SQL, not through the API: 30 days of one account's results; 6 apps, 8 evaluators with 3 profiles each, runs of 500 and
  one large run, 2 tags each, datasets, 1.2 % without a verdict, 0.5 % corrected. Half of the evaluators are binary, judges score in
  quarters, a quarter of the results have scores to a thousandth. Rare values are 1 to 3 % of the results, or about 100 results ("few").
  The rollup is computed from the rows afterwards. PostgreSQL's indexes are created after the rows, and it is vacuumed and analysed.
- Over HTTP, one request at a time, the sizes in turn; medians of ${plan.pageRepeats} pages and of ${plan.summaryRepeats} summaries (fewer for those
  that take more than half a second) after a warm-up. The file cache is warm. PostgreSQL has its default memory settings.
- \`whoami\` is the floor: the same path through HTTP and the key check, without a search. A ratio of two times close to it is mostly HTTP.
${results.map(writeSearch).join("")}`;
