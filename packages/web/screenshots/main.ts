// `npm run screenshots [-- folder]`: fills a new database and saves a screenshot of every page in
// packages/web/screenshots/out. The folder contains JSONL files of transitions; the default is examples/transitions.jsonl.
import { join } from "node:path";
import { createPresage } from "@presage/sdk";
import { startPostgres } from "../../server/test/support/store/postgres.ts";
import { openBrowser } from "../test/support/browser.ts";
import { fill, readTransitions } from "./fill.ts";
import { startStandInJudge } from "./stand-in-judge.ts";
import { startServer } from "./start-server.ts";
import { shotsOf, storageState, takeScreenshots } from "./take.ts";

const folder = join(import.meta.dir, "out");
const apiKey = "key-of-the-screenshots-0123456789abcdef";
const source = process.argv[2] ?? join(import.meta.dir, "../../../examples/transitions.jsonl");

const transitions = await readTransitions(source);
// With PostgreSQL, only the process with the shifted clock reads the time.
const postgres = await startPostgres();
const judge = startStandInJudge();
const prices = join(folder, "prices.yaml");
try {
  await Bun.write(
    prices,
    "models:\n  presage-sandbox: { prompt: 2, completion: 8 }\n  stand-in-judge: { prompt: 1, completion: 4 }\n",
  );
  const environment = {
    PRESAGE_DATABASE_URL: await postgres.createDatabase(),
    PRESAGE_BOOTSTRAP_KEY: apiKey,
    PRESAGE_CAPTURE: "all",
    PRESAGE_JUDGE_URL: judge.url,
    PRESAGE_PRICES: prices,
  };
  await fill(environment, apiKey, transitions);
  const server = await startServer(environment, 0);
  const browser = await openBrowser();
  const presage = createPresage({ baseUrl: server.url, apiKey });
  const shots = await shotsOf(presage);
  const signedIn = await storageState(browser, server.signInAddress);
  const files = await takeScreenshots(browser, signedIn, server.url, shots, folder);
  for (const file of files) process.stdout.write(`${file}\n`);
  await browser.close();
  await server.stop();
} finally {
  await judge.stop();
  await postgres.remove();
}
