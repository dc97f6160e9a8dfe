import {
  type Figure,
  figureOf,
  type Goal,
  judge,
  none,
  showCount,
  showFigure,
  table,
  tableOf,
} from "../lib/figures.ts";
import type { Part } from "../lib/part.ts";
import {
  type DashboardPlan,
  type DashboardResult,
  type DashboardRound,
  fullDashboardPlan,
  quickDashboardPlan,
  runDashboard,
} from "./dashboard.ts";
import {
  type FirstLoad,
  referenceMs,
  rowsPerPage,
  type ScrollSample,
  type SentFile,
  type SlowLoad,
  sumBytes,
  sumScripts,
  wheelPixels,
} from "./measures.ts";
import { explorerViews, matrixName, runPageName, viewsOf } from "./visitor.ts";

export const dashboardPart: Part = {
  title: "The dashboard",
  measure: async ({ group, upstream, quick }) => {
    const plan = quick ? quickDashboardPlan : fullDashboardPlan;
    const result = await runDashboard(group, (await upstream()).origin, plan);
    return {
      goals: judgeDashboard(result, plan),
      problems: "notMeasured" in result ? [] : result.problems,
      text: writeDashboard(result, plan),
    };
  },
};

type BrowserState = "cold" | "warm";
type ReadMs = (round: DashboardRound) => number;

const readView =
  (name: string, state: BrowserState): ReadMs =>
  ({ navigation }) =>
    navigation[state].get(name) ?? Number.NaN;

/** The ratio to the reference page in the same state and round. */
const ratioToReference = (
  rounds: readonly DashboardRound[],
  state: BrowserState,
  readMs: ReadMs,
): Figure | undefined => figureOf(rounds, (round) => readMs(round) / referenceMs(round.navigation[state]));

const mostFirstRowsMs = 1_000;
const mostRunMs = 1_500;
const mostTaskMs = 200;
const mostRowsInPage = 200;
const mostScriptBytes = 200_000;
const mostBlockedMs = 300;
const mostShift = 0.02;
/** The shortest tasks that browsers report. */
const leastReportedTaskMs = 50;

const showMs = (ms: number): string => `${ms.toFixed(0)} ms`;
const showTask = (ms: number): string =>
  ms === 0 ? `none of ${leastReportedTaskMs} ms or more` : `${showMs(ms)} at worst`;

const judgeDashboard = (result: DashboardResult, { size, samples }: DashboardPlan): Goal[] => {
  const { rounds, firstLoad, problems } =
    "notMeasured" in result ? { rounds: [], firstLoad: undefined, problems: [] } : result;
  // A failed round was not measured and might have been the worst.
  const isWhole = problems.length === 0;
  const judgeWhole = (
    text: string,
    value: number | undefined,
    most: number,
    show: (value: number) => string,
  ) => judge(text, value, (measured) => isWhole && measured <= most, show);
  const coldMs = (name: string) => figureOf(rounds, readView(name, "cold"))?.median;

  const [slowest] = explorerViews
    .map(({ name }) => ({ name, ms: coldMs(name) }))
    .toSorted((left, right) => (right.ms ?? 0) - (left.ms ?? 0));
  const judgeScrolling = (what: string, readSample: (round: DashboardRound) => ScrollSample): Goal[] => {
    const most = (read: (sample: ScrollSample) => number) =>
      figureOf(rounds, (round) => read(readSample(round)))?.most;
    return [
      judgeWhole(
        `No task over 200 ms while ${what} is scrolled`,
        most(({ longestTaskMs }) => longestTaskMs),
        mostTaskMs,
        showTask,
      ),
      judgeWhole(
        `At most 200 rows of ${what} in the page`,
        most(({ mostRows }) => mostRows),
        mostRowsInPage,
        (rows) => `${rows} at most`,
      ),
    ];
  };
  const judgeRun = (name: string): Goal =>
    judge(
      `${name[0]?.toUpperCase()}${name.slice(1)} at ${showCount(samples)} samples in under 1.5 s, with nothing cached`,
      coldMs(name),
      (ms) => isWhole && ms < mostRunMs,
      showMs,
    );
  const worstOf = (read: (load: SlowLoad) => number) => {
    const medians = slowNames(rounds).map(
      (name) => figureOf(rounds, (round) => readSlow(round, name, read))?.median,
    );
    return medians.length === 0 ? undefined : Math.max(...medians.map((median) => median ?? Number.NaN));
  };
  return [
    judgeWhole(
      "Tasks beyond 50 ms block a page for at most 300 ms in all, with a quarter of the processor",
      worstOf(({ blockedMs }) => blockedMs),
      mostBlockedMs,
      (ms) => `${showMs(ms)} at worst`,
    ),
    judgeWhole(
      "A page's layout shifts by at most 0.02",
      worstOf(({ shift }) => shift),
      mostShift,
      (shift) => `${shift.toFixed(3)} at worst`,
    ),
    judge(
      `The explorer's first rows at ${showCount(size)} results in under 1 s, with nothing cached`,
      slowest?.ms,
      (ms) => isWhole && ms < mostFirstRowsMs,
      (ms) => `${showMs(ms)} at worst (${slowest?.name})`,
    ),
    ...judgeScrolling("the explorer", ({ scrolling }) => scrolling),
    judgeRun(runPageName),
    judgeRun(matrixName),
    ...judgeScrolling("a run's matrix of samples", ({ matrixScrolling }) => matrixScrolling),
    judgeWhole(
      "At most 200 KB of script, compressed, at first load, with all that the first page shows",
      firstLoad && sumScripts(firstLoad),
      mostScriptBytes,
      (bytes) => `${(bytes / 1000).toFixed(0)} KB`,
    ),
  ];
};

const slowNames = (rounds: readonly DashboardRound[]): string[] => [...(rounds[0]?.slowLoads.keys() ?? [])];

const readSlow = ({ slowLoads }: DashboardRound, name: string, read: (load: SlowLoad) => number): number => {
  const load = slowLoads.get(name);
  return load === undefined ? Number.NaN : read(load);
};

const writeSlowLoads = (rounds: readonly DashboardRound[]): string =>
  tableOf(slowNames(rounds), [
    ["first load, a quarter of the processor", (name) => name],
    [
      "blocked, ms",
      (name) => showFigure(figureOf(rounds, (round) => readSlow(round, name, ({ blockedMs }) => blockedMs))),
    ],
    [
      "layout shift, thousandths",
      (name) => showFigure(figureOf(rounds, (round) => readSlow(round, name, ({ shift }) => shift * 1000))),
    ],
  ]);

const writeTimes = (rounds: readonly DashboardRound[]): string => {
  const rows = [
    ...viewsOf("").map(({ name }) => ({ name, cold: readView(name, "cold"), warm: readView(name, "warm") })),
    {
      name: "a result in the drawer, from the click",
      cold: ({ drawer }: DashboardRound) => drawer.firstMs,
      warm: ({ drawer }: DashboardRound) => drawer.nextMs,
    },
  ];
  return tableOf(rows, [
    ["until painted", ({ name }) => name],
    ["cold, ms", ({ cold }) => showFigure(figureOf(rounds, cold))],
    ["ratio to the reference", ({ cold }) => showFigure(ratioToReference(rounds, "cold", cold))],
    ["warm, ms", ({ warm }) => showFigure(figureOf(rounds, warm))],
    ["ratio to the reference", ({ warm }) => showFigure(ratioToReference(rounds, "warm", warm))],
  ]);
};

const writeScrolling = (
  title: string,
  rounds: readonly DashboardRound[],
  readSample: (round: DashboardRound) => ScrollSample,
): string => {
  const show = (read: (sample: ScrollSample) => number, scale = 1) =>
    showFigure(
      figureOf(rounds, (round) => read(readSample(round))),
      scale,
    );
  const ratio = ratioToReference(rounds, "warm", (round) => readSample(round).totalMs);
  return table(
    [title, ""],
    [
      ["total, ms", show(({ totalMs }) => totalMs)],
      ["total, ratio to the warm reference", showFigure(ratio)],
      ["processor time of the page's main thread, ms", show(({ cpuMs }) => cpuMs)],
      ["longest task, ms (0: none of 50 ms)", show(({ longestTaskMs }) => longestTaskMs)],
      ["tasks of 50 ms and more", show(({ longTasks }) => longTasks)],
      ["most rows in the page", show(({ mostRows }) => mostRows)],
      ["JavaScript heap before, MB", show(({ heapBeforeBytes }) => heapBeforeBytes, 1e-6)],
      ["JavaScript heap after, MB", show(({ heapAfterBytes }) => heapAfterBytes, 1e-6)],
    ],
  );
};

const kinds = [
  ["script", "script"],
  ["stylesheet", "styles"],
  ["font", "fonts"],
  ["document", "the document"],
  ["fetch", "API responses"],
] as const;

const writeFirstLoad = (firstLoad: FirstLoad | undefined): string => {
  if (firstLoad === undefined) return "Not measured.";
  const { beforeUsable, afterwards } = firstLoad;
  const show = (files: readonly SentFile[], kind: string) => {
    const ofKind = files.filter((file) => file.kind === kind);
    if (ofKind.length === 0) return [none, none, none];
    const encodings = new Set(ofKind.map(({ encoding }) => encoding ?? "none"));
    return [`${ofKind.length}`, (sumBytes(ofKind, kind) / 1000).toFixed(1), [...encodings].join(", ")];
  };
  const files = table(
    ["", "files", "KB", "encoding", "files loaded later", "KB", "encoding"],
    kinds.map(([kind, title]) => [title, ...show(beforeUsable, kind), ...show(afterwards, kind)]),
  );
  return `Sizes of the encoded bodies, with nothing cached, of what was requested before and after the overview showed all its figures and charts.
Script in total: ${(sumScripts(firstLoad) / 1000).toFixed(1)} KB.

${files}`;
};

const writeDashboard = (dashboard: DashboardResult, plan: DashboardPlan): string => {
  if ("notMeasured" in dashboard) return `\nNot measured: ${dashboard.notMeasured}.\n`;
  const { browserVersion, rounds, firstLoad } = dashboard;
  return `
- ${showCount(plan.size)} results. Chromium ${browserVersion}, headless and without a GPU, in a window of 1440 by 900; browser and server share the machine.
  The results are in an SQLite file, made like those of the searches. The browser has signed in with the printed link.
- Times are by the page's own clock, from the navigation until a frame with the awaited content is painted: the explorer's first
  rows, all figures of the overview, the complete result in the drawer. The counts above the rows may come later. Of a run's page, all of
  it: nothing is a placeholder any more. The run has ${showCount(plan.samples)} samples, predictions made elsewhere and two evaluators.
- Cold: a new browser context for each navigation, with only the session. Warm: a context that has visited every
  page. For the drawer: the first and the second result opened in a page. The server has served every page before.
- The reference is a static page of the same server, with one script and one style sheet. ${plan.rounds} rounds; views take turns, and
  each round begins with a different one; ratios are taken within a round.

${writeTimes(rounds)}

Blocked: what tasks take beyond 50 ms each until the network is idle, with the processor throttled to a quarter by Chromium.

${writeSlowLoads(rounds)}

The wheel scrolls ${wheelPixels} pixels a frame; a page is ${rowsPerPage} results. The heap is measured after a garbage collection.

${writeScrolling(`scrolling through ${plan.scrolledPages} pages of results`, rounds, ({ scrolling }) => scrolling)}

${writeScrolling("scrolling through as many samples of a run", rounds, ({ matrixScrolling }) => matrixScrolling)}

### The first load of \`/\`
${writeFirstLoad(firstLoad)}
`;
};
