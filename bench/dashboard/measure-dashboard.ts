import { type DrawerTimes, measureDrawer } from "./measure-drawer.ts";
import { type FirstLoad, measureFirstLoad } from "./measure-first-load.ts";
import { measureNavigation, type NavigationTimes, warmUp } from "./measure-navigation.ts";
import { measureScrolling, rowsPerPage, type ScrollSample } from "./measure-scrolling.ts";
import type { DashboardPlan } from "./plan-dashboard.ts";
import { everyResult, type RunViews, viewsOf } from "./views.ts";
import type { Visitor } from "./visitor.ts";

export interface DashboardRound {
  readonly navigation: NavigationTimes;
  readonly drawer: DrawerTimes;
  readonly scrolling: ScrollSample;
  /** Through as many of a run's samples. */
  readonly matrixScrolling: ScrollSample;
}

export interface DashboardFigures {
  readonly rounds: readonly DashboardRound[];
  readonly firstLoad: FirstLoad | undefined;
  /** Failed measurements, one sentence each. */
  readonly problems: readonly string[];
}

const measureRound = async (
  visitor: Visitor,
  runViews: RunViews,
  round: number,
  plan: DashboardPlan,
): Promise<DashboardRound> => {
  const navigation = await measureNavigation(visitor, viewsOf(runViews), round);
  const drawer = await measureDrawer(visitor);
  const rows = plan.scrolledPages * rowsPerPage;
  const scrolling = await measureScrolling(visitor, everyResult, rows);
  const matrixScrolling = await measureScrolling(visitor, runViews.matrix, rows);
  const slowestMs = Math.max(...navigation.cold.values());
  process.stdout.write(
    `dashboard  round ${round + 1}: ${slowestMs.toFixed(0)} ms to the slowest view, ${scrolling.totalMs.toFixed(0)} ms to scroll, ${matrixScrolling.totalMs.toFixed(0)} ms through the samples\n`,
  );
  return { navigation, drawer, scrolling, matrixScrolling };
};

export const measureDashboard = async (
  visitor: Visitor,
  runViews: RunViews,
  plan: DashboardPlan,
): Promise<DashboardFigures> => {
  const problems: string[] = [];
  const attempt = async <Value>(what: string, measure: () => Promise<Value>): Promise<Value | undefined> => {
    try {
      return await measure();
    } catch (error) {
      // The library appends a log of its calls.
      const [reason] = (error instanceof Error ? error.message : String(error)).split("\n");
      problems.push(`${what}: ${reason}`);
      process.stdout.write(`dashboard  FAILED: ${problems.at(-1)}\n`);
      return undefined;
    }
  };
  await attempt("the warm-up", () => warmUp(visitor, viewsOf(runViews)));
  const firstLoad = await attempt("the first load", () => measureFirstLoad(visitor));
  const rounds: DashboardRound[] = [];
  for (let round = 0; round < plan.rounds; round += 1) {
    const measured = await attempt(`round ${round + 1}`, () => measureRound(visitor, runViews, round, plan));
    if (measured !== undefined) rounds.push(measured);
  }
  return { rounds, firstLoad, problems };
};
