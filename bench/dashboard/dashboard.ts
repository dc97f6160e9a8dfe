import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import {
  createRun,
  finishRun,
  predictionLine,
  sampleLine,
  streamLines,
  uploadPredictions,
  uploadSamples,
} from "../lib/api.ts";
import { type ProcessGroup, rootDirectory, workDirectory } from "../lib/processes.ts";
import { type RunningPresage, sqliteFile } from "../lib/targets.ts";
import { fillAndStart } from "../search/filled-database.ts";
import {
  type DrawerTimes,
  type FirstLoad,
  measureDrawer,
  measureFirstLoad,
  measureNavigation,
  measureScrolling,
  measureSlowLoad,
  type NavigationTimes,
  rowsPerPage,
  type ScrollSample,
  type SlowLoad,
  warmUp,
} from "./measures.ts";
import {
  everyResult,
  matrixOf,
  type NotMeasured,
  openSystemBrowser,
  signIn,
  type Visitor,
  viewsOf,
} from "./visitor.ts";

export const fullDashboardPlan = {
  /** Number of results in the database. */
  size: 1_000_000,
  rounds: 5,
  /** Number of pages of results that a round scrolls through. */
  scrolledPages: 20,
  /** Number of samples of the run whose pages are measured. */
  samples: 100_000,
};
export type DashboardPlan = typeof fullDashboardPlan;

export const quickDashboardPlan: DashboardPlan = {
  size: 10_000,
  rounds: 2,
  scrolledPages: 20,
  samples: 3_000,
};

export interface DashboardRound {
  readonly navigation: NavigationTimes;
  readonly drawer: DrawerTimes;
  readonly scrolling: ScrollSample;
  /** Scrolling through as many of a run's samples. */
  readonly matrixScrolling: ScrollSample;
  /** The slow loads of some pages, by name. */
  readonly slowLoads: ReadonlyMap<string, SlowLoad>;
}

interface DashboardFigures {
  readonly rounds: readonly DashboardRound[];
  readonly firstLoad: FirstLoad | undefined;
  /** Failed measurements, one sentence each. */
  readonly problems: readonly string[];
}

export type DashboardResult = NotMeasured | (DashboardFigures & { readonly browserVersion: string });

export const runDashboard = async (
  group: ProcessGroup,
  upstreamOrigin: string,
  plan: DashboardPlan,
): Promise<DashboardResult> => {
  const browser = await openSystemBrowser();
  if ("notMeasured" in browser) {
    process.stdout.write(`The dashboard is skipped: ${browser.notMeasured}\n`);
    return browser;
  }
  const directory = join(workDirectory, "dashboard");
  try {
    // Makes sure that the server serves a build of the current sources.
    const script = join(rootDirectory, "packages", "web", "build.ts");
    await group.outputOf("building the dashboard", { argv: [process.execPath, script] });
    const database = { database: "SQLite", url: `sqlite:${sqliteFile(directory)}` } as const;
    const { presage } = await fillAndStart(group, upstreamOrigin, "dashboard", database, plan.size);
    const signedIn = await signIn(browser, readFileSync(join(directory, "output.log"), "utf8"));
    const runId = await makeRun(presage, plan.samples);
    const visitor = { browser, origin: presage.origin, signedIn };
    const figures = await measureDashboard(visitor, runId, plan);
    await group.stop(presage.process);
    return { browserVersion: browser.version(), ...figures };
  } finally {
    await browser.close();
    rmSync(directory, { recursive: true, force: true });
  }
};

const bytesOfSample = 300;

/** A finished run of predictions made elsewhere, judged by two evaluators. Returns its id. */
const makeRun = async (presage: RunningPresage, samples: number): Promise<string> => {
  const startedAtMs = performance.now();
  const name = "of the dashboard";
  const dataset_id = await uploadSamples(presage, name, samples, (index) => sampleLine(index, bytesOfSample));
  const id = await createRun(presage, {
    name,
    dataset_id,
    target: { predictions: "imported" },
    evaluators: [{ evaluator: "exact-match" }, { evaluator: "state-change" }],
  });
  await uploadPredictions(presage, id, streamLines(samples, predictionLine));
  await finishRun(presage, id);
  const tookS = (performance.now() - startedAtMs) / 1000;
  process.stdout.write(`dashboard  a run of ${samples} samples in ${tookS.toFixed(1)} s\n`);
  return id;
};

const measureDashboard = async (
  visitor: Visitor,
  runId: string,
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
  await attempt("the warm-up", () => warmUp(visitor, viewsOf(runId)));
  const firstLoad = await attempt("the first load", () => measureFirstLoad(visitor));
  const rounds: DashboardRound[] = [];
  for (let round = 0; round < plan.rounds; round += 1) {
    const measured = await attempt(`round ${round + 1}`, () => measureRound(visitor, runId, round, plan));
    if (measured !== undefined) rounds.push(measured);
  }
  return { rounds, firstLoad, problems };
};

const measureRound = async (
  visitor: Visitor,
  runId: string,
  round: number,
  plan: DashboardPlan,
): Promise<DashboardRound> => {
  const navigation = await measureNavigation(visitor, viewsOf(runId), round);
  const drawer = await measureDrawer(visitor);
  const rows = plan.scrolledPages * rowsPerPage;
  const scrolling = await measureScrolling(visitor, everyResult, rows);
  const matrixScrolling = await measureScrolling(visitor, matrixOf(runId), rows);
  const slowLoads = new Map<string, SlowLoad>();
  for (const [name, path] of slowPages(runId)) slowLoads.set(name, await measureSlowLoad(visitor, path));
  const slowestMs = Math.max(...navigation.cold.values());
  process.stdout.write(
    `dashboard  round ${round + 1}: ${slowestMs.toFixed(0)} ms to the slowest view, ${scrolling.totalMs.toFixed(0)} ms to scroll, ${matrixScrolling.totalMs.toFixed(0)} ms through the samples\n`,
  );
  return { navigation, drawer, scrolling, matrixScrolling, slowLoads };
};

const slowPages = (runId: string) =>
  [
    ["Overview", "/"],
    ["Runs", "/runs"],
    ["a run", `/runs/${runId}`],
    ["the log", "/predictions"],
    ["evaluations", "/evaluations"],
    ["people and spend", "/usage"],
  ] as const;
