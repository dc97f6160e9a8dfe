import { type Goal, none, showFigure, table } from "../lib/figures.ts";
import type { Part } from "../lib/part.ts";
import { type Figure, summarise } from "../predictions/predictions-report.ts";
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
  sumBytes,
  sumScripts,
  wheelPixels,
} from "./measures.ts";
import { explorerViews, matrixName, runPageName, viewNames } from "./visitor.ts";

export type BrowserState = "cold" | "warm";

export interface TimeAndRatio {
  readonly timeMs: Figure | undefined;
  /** Ratio to the reference in the same state and round. */
  readonly ratio: Figure | undefined;
}

/** A time in each round, and its ratio to the reference in that round. */
const compareToReference = (
  rounds: readonly DashboardRound[],
  state: BrowserState,
  readMs: (round: DashboardRound) => number,
): TimeAndRatio => ({
  timeMs: summarise(rounds.map(readMs)),
  ratio: summarise(rounds.map((round) => readMs(round) / referenceMs(round.navigation[state]))),
});

const readView =
  (name: string, state: BrowserState) =>
  ({ navigation }: DashboardRound): number =>
    navigation[state].get(name) ?? Number.NaN;

const mostFirstRowsMs = 1_000;
const mostRunMs = 1_500;
const mostTaskMs = 200;
const mostRows = 200;
const mostScriptBytes = 200_000;
/** The shortest tasks that browsers report. */
const leastReportedTaskMs = 50;

const showTask = (ms: number): string =>
  ms === 0 ? `none of ${leastReportedTaskMs} ms or more` : `${ms.toFixed(0)} ms at worst`;

const judgeDashboard = (result: DashboardResult, { size, samples }: DashboardPlan): Goal[] => {
  const figures = "notMeasured" in result ? undefined : result;
  // A failed round was not measured and might have been the worst.
  const isWhole = figures?.problems.length === 0;
  const judge = (text: string, measured: string | undefined, isMet: boolean): Goal =>
    measured === undefined
      ? { text, measured: "not measured", met: undefined }
      : { text, measured, met: isWhole && isMet };

  const rounds = figures?.rounds ?? [];
  const [slowest] = explorerViews
    .flatMap(({ name }) => {
      const { timeMs } = compareToReference(rounds, "cold", readView(name, "cold"));
      return timeMs === undefined ? [] : [{ name, ms: timeMs.median }];
    })
    .toSorted((left, right) => right.ms - left.ms);
  const wasScrolled = rounds.length > 0;
  const judgeScrolling = (what: string, scrolling: readonly ScrollSample[]): Goal[] => {
    const taskMs = Math.max(...scrolling.map(({ longestTaskMs }) => longestTaskMs));
    const rows = Math.max(...scrolling.map(({ mostRows }) => mostRows));
    return [
      judge(
        `No task over 200 ms while ${what} is scrolled`,
        wasScrolled ? showTask(taskMs) : undefined,
        taskMs <= mostTaskMs,
      ),
      judge(
        `At most 200 rows of ${what} in the page`,
        wasScrolled ? `${rows} at most` : undefined,
        rows <= mostRows,
      ),
    ];
  };
  const judgeRun = (name: string): Goal => {
    const { timeMs } = compareToReference(rounds, "cold", readView(name, "cold"));
    return judge(
      `${name[0]?.toUpperCase()}${name.slice(1)} at ${samples.toLocaleString("en-US")} samples in under 1.5 s, with nothing cached`,
      timeMs && `${timeMs.median.toFixed(0)} ms`,
      timeMs !== undefined && timeMs.median < mostRunMs,
    );
  };
  const firstLoad = figures?.firstLoad;
  const scriptBytes = firstLoad === undefined ? 0 : sumScripts(firstLoad);
  return [
    judge(
      `The explorer's first rows at ${size.toLocaleString("en-US")} results in under 1 s, with nothing cached`,
      slowest && `${slowest.ms.toFixed(0)} ms at worst (${slowest.name})`,
      slowest !== undefined && slowest.ms < mostFirstRowsMs,
    ),
    ...judgeScrolling(
      "the explorer",
      rounds.map(({ scrolling }) => scrolling),
    ),
    judgeRun(runPageName),
    judgeRun(matrixName),
    ...judgeScrolling(
      "a run's matrix of samples",
      rounds.map(({ matrixScrolling }) => matrixScrolling),
    ),
    judge(
      "At most 200 KB of script, compressed, at first load, with all that the first page shows",
      firstLoad && `${(scriptBytes / 1000).toFixed(0)} KB`,
      scriptBytes <= mostScriptBytes,
    ),
  ];
};

const writeTimes = (rounds: readonly DashboardRound[]): string => {
  const cells = ({ timeMs, ratio }: TimeAndRatio) => [showFigure(timeMs), showFigure(ratio)];
  const row = (
    title: string,
    cold: (round: DashboardRound) => number,
    warm: (round: DashboardRound) => number,
  ) => [
    title,
    ...cells(compareToReference(rounds, "cold", cold)),
    ...cells(compareToReference(rounds, "warm", warm)),
  ];
  return table(
    ["until painted", "cold, ms", "ratio to the reference", "warm, ms", "ratio to the reference"],
    [
      ...viewNames.map((name) => row(name, readView(name, "cold"), readView(name, "warm"))),
      row(
        "a result in the drawer, from the click",
        ({ drawer }) => drawer.firstMs,
        ({ drawer }) => drawer.nextMs,
      ),
    ],
  );
};

const writeScrolling = (
  title: string,
  rounds: readonly DashboardRound[],
  readSample: (round: DashboardRound) => ScrollSample,
): string => {
  const figureOf = (read: (sample: ScrollSample) => number, scale = 1) =>
    showFigure(summarise(rounds.map((round) => read(readSample(round)))), scale);
  const total = compareToReference(rounds, "warm", (round) => readSample(round).totalMs);
  return table(
    [title, ""],
    [
      ["total, ms", showFigure(total.timeMs)],
      ["total, ratio to the warm reference", showFigure(total.ratio)],
      ["processor time of the page's main thread, ms", figureOf(({ cpuMs }) => cpuMs)],
      ["longest task, ms (0: none of 50 ms)", figureOf(({ longestTaskMs }) => longestTaskMs)],
      ["tasks of 50 ms and more", figureOf(({ longTasks }) => longTasks)],
      ["most rows in the page", figureOf(({ mostRows }) => mostRows)],
      ["JavaScript heap before, MB", figureOf(({ heapBeforeBytes }) => heapBeforeBytes, 1e-6)],
      ["JavaScript heap after, MB", figureOf(({ heapAfterBytes }) => heapAfterBytes, 1e-6)],
    ],
  );
};

const kinds: Readonly<Record<string, string>> = {
  script: "script",
  stylesheet: "styles",
  font: "fonts",
  document: "the document",
  fetch: "API responses",
};

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
    Object.entries(kinds).map(([kind, title]) => [
      title,
      ...show(beforeUsable, kind),
      ...show(afterwards, kind),
    ]),
  );
  return `Sizes of the encoded bodies, with nothing cached, of what was requested before and after the overview showed all its figures and charts.
Script in total: ${(sumScripts(firstLoad) / 1000).toFixed(1)} KB.

${files}`;
};

const writeDashboard = (dashboard: DashboardResult, plan: DashboardPlan): string => {
  if ("notMeasured" in dashboard) return `\nNot measured: ${dashboard.notMeasured}.\n`;
  const { browserVersion, rounds, firstLoad } = dashboard;
  return `
- ${plan.size.toLocaleString("en-US")} results. Chromium ${browserVersion}, headless and without a GPU, in a window of 1440 by 900; browser and server share the machine.
  The results are in an SQLite file, made like those of the searches. The browser has signed in with the printed link.
- Times are by the page's own clock, from the navigation until a frame with the awaited content is painted: the explorer's first
  rows, all figures of the overview, the complete result in the drawer. The counts above the rows may come later. Of a run's page, all of
  it: nothing is a placeholder any more. The run has ${plan.samples.toLocaleString("en-US")} samples, predictions made elsewhere and two evaluators.
- Cold: a new browser context for each navigation, with only the session. Warm: a context that has visited every
  page. For the drawer: the first and the second result opened in a page. The server has served every page before.
- The reference is a static page of the same server, with one script and one style sheet. ${plan.rounds} rounds; views take turns, and
  each round begins with a different one; ratios are taken within a round.

${writeTimes(rounds)}

The wheel scrolls ${wheelPixels} pixels a frame; a page is ${rowsPerPage} results. The heap is measured after a garbage collection.

${writeScrolling(`scrolling through ${plan.scrolledPages} pages of results`, rounds, ({ scrolling }) => scrolling)}

${writeScrolling("scrolling through as many samples of a run", rounds, ({ matrixScrolling }) => matrixScrolling)}

### The first load of \`/\`
${writeFirstLoad(firstLoad)}
`;
};

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
