import { afterAll, beforeAll, test } from "bun:test";
import { chromiumPath } from "./browser.ts";
import { type PagePool, poolPages } from "./page-pool.ts";
import { runWithVisitor, type Visitor } from "./run-with-visitor.ts";
import { type DashboardOptions, type RunningDashboard, startDashboard } from "./running-dashboard.ts";

const timeoutMs = 240_000;

if (chromiumPath === undefined) {
  process.stderr.write(
    "The browser tests are skipped: no Chromium was found. Install it (Debian: apt-get install chromium), or name one in PRESAGE_TEST_CHROMIUM.\n",
  );
}

/** Starts a server and a browser for the tests of a file. Returns the function that defines tests. */
export function dashboardTests(options: () => DashboardOptions = () => ({})) {
  let running: RunningDashboard;
  let pool: PagePool;
  beforeAll(async () => {
    if (chromiumPath === undefined) return;
    running = await startDashboard(options());
    pool = poolPages(running);
  }, timeoutMs);
  afterAll(async () => {
    if (chromiumPath === undefined) return;
    await pool.close();
    await running.stop();
  }, timeoutMs);

  return (sentence: string, body: (visitor: Visitor) => Promise<void>) =>
    test.skipIf(chromiumPath === undefined)(sentence, () => runWithVisitor(running, pool, body), timeoutMs);
}
