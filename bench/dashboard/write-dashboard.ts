import { summarise } from "../report/figures.ts";
import { none, showFigure, table } from "../report/markdown.ts";
import { compareToReference, readView, type TimeAndRatio } from "./dashboard-figures.ts";
import type { DashboardRound } from "./measure-dashboard.ts";
import { type FirstLoad, type SentFile, sumBytes, sumScripts } from "./measure-first-load.ts";
import { rowsPerPage, type ScrollSample, wheelPixels } from "./measure-scrolling.ts";
import type { DashboardPlan } from "./plan-dashboard.ts";
import type { DashboardResult } from "./run-dashboard.ts";
import { viewNames } from "./views.ts";

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

export const writeDashboard = (dashboard: DashboardResult, plan: DashboardPlan): string => {
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
