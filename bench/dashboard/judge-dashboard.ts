import type { Goal } from "../report/goal.ts";
import { compareToReference, readView } from "./dashboard-figures.ts";
import { sumScripts } from "./measure-first-load.ts";
import type { ScrollSample } from "./measure-scrolling.ts";
import type { DashboardPlan } from "./plan-dashboard.ts";
import type { DashboardResult } from "./run-dashboard.ts";
import { explorerViews, matrixName, runPageName } from "./views.ts";

const mostFirstRowsMs = 1_000;
const mostRunMs = 1_500;
const mostTaskMs = 200;
const mostRows = 200;
const mostScriptBytes = 200_000;
/** The shortest tasks that browsers report. */
const leastReportedTaskMs = 50;

const showTask = (ms: number): string =>
  ms === 0 ? `none of ${leastReportedTaskMs} ms or more` : `${ms.toFixed(0)} ms at worst`;

export const judgeDashboard = (result: DashboardResult, { size, samples }: DashboardPlan): Goal[] => {
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
