import { heavyBodies } from "../evaluations/beside/heavy-bodies.ts";
import type { BesideSample } from "../evaluations/beside/measure-beside.ts";
import type { EvaluationsPlan } from "../evaluations/plan-evaluations.ts";
import type { SearchResult, Timing } from "../evaluations/search/measure-search.ts";
import type { ThroughputSample } from "../evaluations/throughput/measure-throughput.ts";
import { evaluateBodies } from "../evaluations/throughput/sample-texts.ts";
import type { BenchResult } from "../run-bench.ts";
import { ratioBetween, shareOfBareLoop } from "./evaluation-figures.ts";
import { summarise } from "./figures.ts";
import { none, showFigure, table } from "./markdown.ts";

const bodyKilobytes = ((evaluateBodies.split("\n")[0]?.length ?? 0) / 1000).toFixed(1);

const writeThroughput = (
  samples: readonly ThroughputSample[],
  { connections, rounds }: EvaluationsPlan["throughput"],
): string => {
  const counted = samples.filter(({ problem }) => problem === undefined);
  const figureOf = (read: (sample: ThroughputSample) => number) => summarise(counted.map(read));
  return `
## Evaluations: stored before the response, ${connections} connections
\`POST /v1/evaluate\` of ${bodyKilobytes} KB with one exact-match, captured, with an SQLite file; ${rounds} rounds, each with a new
database, which afterwards had one result for each response that wrk received. Then a bare loop in a separate process inserts the
same results (each with a row for its texts and one for its tag) into the same schema: prepared statements, transactions of 500,
WAL, \`synchronous = FULL\`. The loop has the machine to itself; Presage shares it with wrk.

${table(
  ["", "results/s", "p50, ms", "p99, ms"],
  [
    [
      "**Presage**",
      showFigure(figureOf(({ requestsPerSecond }) => requestsPerSecond)),
      showFigure(
        figureOf(({ p50Us }) => p50Us),
        1 / 1000,
      ),
      showFigure(
        figureOf(({ p99Us }) => p99Us),
        1 / 1000,
      ),
    ],
    ["a bare loop", showFigure(figureOf(({ barePerSecond }) => barePerSecond)), none, none],
    ["Presage, as a ratio to the loop", showFigure(shareOfBareLoop(samples)), none, none],
  ],
)}
`;
};

const writeBeside = (
  samples: readonly BesideSample[],
  { connections, delayMs, heavyInFlight }: EvaluationsPlan["beside"],
): string => {
  const counted = samples.filter(({ problem }) => problem === undefined);
  const row = (title: string, read: (sample: BesideSample) => BesideSample["idle"]) => [
    title,
    ...(["p50Us", "p99Us", "maxUs"] as const).map((measure) =>
      showFigure(summarise(counted.map((sample) => read(sample)[measure])), 1 / 1000),
    ),
  ];
  const evaluated = showFigure(summarise(counted.map((sample) => sample.evaluated)));
  const kilobytes = heavyBodies.map((body) => `${(body.length / 1000).toFixed(0)} KB`).join(", ");
  return `
## Predictions beside ${heavyInFlight} expensive evaluations
Predictions over ${connections} connections, the upstream takes ${delayMs} ms; alternately without other load and with ${heavyInFlight} evaluations always in
flight: edit-distance, rouge-l and regex of long texts (${kilobytes} a request). ${evaluated} of them finished in a round.

${table(
  ["", "p50, ms", "p99, ms", "slowest, ms"],
  [row("idle", ({ idle }) => idle), row("beside the evaluations", ({ busy }) => busy)],
)}
`;
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
  const database = `## Evaluation results on ${result.database}`;
  if (result.sizes.length === 0) return `\n${database}\nNot measured: ${result.problems.join("; ")}.\n`;
  return `
${database}: pages of 50
${writeTimings("filter", result.pages, result, "results")}

${database}: summaries
The rollup has ${cells} cells.

${writeTimings("summary", result.summaries, result, "groups, from")}
`;
};

const writeSearches = (results: readonly SearchResult[], plan: EvaluationsPlan["search"]): string => `
## Evaluation results: data and method
- The data are inserted by SQL, not through the API: 30 days of one account's results; 6 apps, 8 evaluators with 3 profiles each, runs of 500 and
  one large run, 2 tags each, datasets, 1.2 % without a verdict, 0.5 % corrected. Half of the evaluators are binary, judges score in
  quarters, a quarter of the results have scores to a thousandth. Rare values are 1 to 3 % of the results, or about 100 results ("few").
  The rollup is computed from the rows afterwards. PostgreSQL's indexes are created after the rows, and it is vacuumed and analysed.
- Over HTTP, one request at a time, the sizes in turn; medians of ${plan.pageRepeats} pages and of ${plan.summaryRepeats} summaries (fewer for those
  that take more than half a second) after a warm-up. The file cache is warm. PostgreSQL has its default memory settings.
- \`whoami\` is the floor: the same path through HTTP and the key check, without a search. A ratio of two times close to it is mostly HTTP.
${results.map(writeSearch).join("")}`;

export const writeEvaluations = ({ evaluations, plan }: BenchResult): string =>
  evaluations === undefined
    ? ""
    : [
        writeThroughput(evaluations.throughput, plan.evaluations.throughput),
        writeBeside(evaluations.beside, plan.evaluations.beside),
        writeSearches(evaluations.search, plan.evaluations.search),
      ].join("");
