import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fillAndStart } from "../evaluations/search/fill-and-start.ts";
import { rootDirectory, workDirectory } from "../paths.ts";
import type { ProcessGroup } from "../processes.ts";
import { makeRun } from "./make-run.ts";
import { type DashboardFigures, measureDashboard } from "./measure-dashboard.ts";
import { type NotMeasured, openSystemBrowser } from "./open-system-browser.ts";
import type { DashboardPlan } from "./plan-dashboard.ts";
import { signIn } from "./sign-in.ts";
import { runViewsOf } from "./views.ts";

export type DashboardResult = NotMeasured | (DashboardFigures & { readonly browserVersion: string });

/** Makes sure that the server serves a build of the current sources. */
const buildDashboard = async (group: ProcessGroup): Promise<void> => {
  const script = join(rootDirectory, "packages", "web", "build.ts");
  const { exitCode, stderr } = await group.runCommand({ argv: [process.execPath, script] });
  if (exitCode !== 0) throw new Error(`building the dashboard failed: ${stderr}`);
};

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
    await buildDashboard(group);
    const { presage } = await fillAndStart(group, upstreamOrigin, {
      database: "SQLite",
      size: plan.size,
      url: `sqlite:${join(directory, "presage.db")}`,
      directory,
    });
    const signedIn = await signIn(browser, readFileSync(join(directory, "output.log"), "utf8"));
    const runViews = runViewsOf(await makeRun(presage, plan.samples));
    const visitor = { browser, origin: presage.origin, signedIn };
    const figures = await measureDashboard(visitor, runViews, plan);
    await group.stop(presage.process);
    return { browserVersion: browser.version(), ...figures };
  } finally {
    await browser.close();
    rmSync(directory, { recursive: true, force: true });
  }
};
