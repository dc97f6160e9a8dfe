import type { DashboardRound } from "../dashboard/measure-dashboard.ts";
import { type FirstLoad, type SentFile, sumBytes } from "../dashboard/measure-first-load.ts";
import { rowsPerPage, wheelPixels } from "../dashboard/measure-scrolling.ts";
import type { DashboardPlan } from "../dashboard/plan-dashboard.ts";
import { views } from "../dashboard/views.ts";
import type { BenchResult } from "../run-bench.ts";
import { compareToReference, readView, type TimeAndRatio } from "./dashboard-figures.ts";
import { summarise } from "./figures.ts";
import { none, showFigure, table } from "./markdown.ts";

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
    ["until there is painted", "cold, ms", "to the reference", "warm, ms", "to the reference"],
    [
      ...views.map(({ name }) => row(name, readView(name, "cold"), readView(name, "warm"))),
      row(
        "a result in the drawer, from the click",
        ({ drawer }) => drawer.firstMs,
        ({ drawer }) => drawer.nextMs,
      ),
    ],
  );
};

const writeScrolling = (rounds: readonly DashboardRound[], { scrolledPages }: DashboardPlan): string => {
  const figureOf = (read: (sample: DashboardRound["scrolling"]) => number, scale = 1) =>
    showFigure(summarise(rounds.map(({ scrolling }) => read(scrolling))), scale);
  const total = compareToReference(rounds, "warm", ({ scrolling }) => scrolling.totalMs);
  return table(
    [`through ${scrolledPages} pages by the mouse's wheel`, ""],
    [
      ["in all, ms", showFigure(total.timeMs)],
      ["in all, to the warm reference", showFigure(total.ratio)],
      ["processor time of the page's main thread, ms", figureOf(({ cpuMs }) => cpuMs)],
      ["longest task, ms (0: none of 50 ms)", figureOf(({ longestTaskMs }) => longestTaskMs)],
      ["tasks of 50 ms and more", figureOf(({ longTasks }) => longTasks)],
      ["most rows in the page", figureOf(({ mostRows }) => mostRows)],
      ["JavaScript heap before, MB", figureOf(({ heapBeforeBytes }) => heapBeforeBytes, 1e-6)],
      ["JavaScript heap afterwards, MB", figureOf(({ heapAfterBytes }) => heapAfterBytes, 1e-6)],
    ],
  );
};

const kinds: Readonly<Record<string, string>> = {
  script: "script",
  stylesheet: "styles",
  font: "fonts",
  document: "the document",
  fetch: "answers of the API",
};

const writeFirstLoad = (firstLoad: FirstLoad | undefined): string => {
  if (firstLoad === undefined) return "Not measured.";
  const { beforeUsable, afterwards } = firstLoad;
  const show = (files: readonly SentFile[], kind: string) => {
    const ofKind = files.filter((file) => file.kind === kind);
    if (ofKind.length === 0) return [none, none, none];
    const encodings = new Set(ofKind.map(({ encoding }) => encoding ?? "as it is"));
    return [`${ofKind.length}`, (sumBytes(ofKind, kind) / 1000).toFixed(1), [...encodings].join(", ")];
  };
  const scriptBytes = sumBytes([...beforeUsable, ...afterwards], "script");
  const files = table(
    ["", "files", "KB", "encoding", "afterwards, files", "afterwards, KB", "encoding"],
    Object.entries(kinds).map(([kind, title]) => [
      title,
      ...show(beforeUsable, kind),
      ...show(afterwards, kind),
    ]),
  );
  return `Bodies as they were sent, with nothing cached. The charts' script is held back until all figures of the overview are there:
what has come by then is what the page needs to be usable. Script in all, with the charts: ${(scriptBytes / 1000).toFixed(1)} KB.

${files}`;
};

export const writeDashboard = ({ dashboard, plan: { dashboard: plan } }: BenchResult): string => {
  if (dashboard === undefined) return "";
  const title = `\n## The dashboard at ${plan.size.toLocaleString("en-US")} results`;
  if ("notMeasured" in dashboard) return `${title}\nNot measured: ${dashboard.notMeasured}.\n`;
  const { browserVersion, rounds, firstLoad } = dashboard;
  return `${title}
- Chromium ${browserVersion} without a screen and without a GPU, in a window of 1440 by 900; browser and server share the machine.
  The results stand in an SQLite file, made as those of the searches. Somebody has signed in by the printed address.
- By the page's own clock, from the navigation until a frame with what is waited for had been painted: the explorer's first
  rows, all figures of the overview, the whole result in the drawer. The counts above the rows may come later.
- Cold: a browser context of its own for each navigation, which has nothing but the session. Warm: a context that has been to
  every page. For the drawer: the first and the second result that a page opens. The server has been to every page before.
- The reference is a static page of the same server, with one script and one style sheet. ${plan.rounds} rounds; views take turns and
  begin with another one in each; ratios are taken within a round.

${writeTimes(rounds)}

The wheel turns by ${wheelPixels} pixels as fast as frames come; a page is ${rowsPerPage} results. The heap is what is in use after a collection.

${writeScrolling(rounds, plan)}

### The first load of \`/\`
${writeFirstLoad(firstLoad)}
`;
};
