import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Presage } from "@presage/sdk";
import type { Browser, Page } from "playwright-core";

export interface Shot {
  name: string;
  path: string;
  /** Runs before the screenshot is taken. */
  prepare?(page: Page): Promise<void>;
}

/** Every page of the dashboard, with data. */
export async function shotsOf(presage: Presage): Promise<Shot[]> {
  const fails = await presage.results.search({ evaluator_family: "rouge-l", pass: false, limit: 1 });
  const results = await presage.results.search({ evaluator_family: "rouge-l", limit: 1 });
  const [shown] = [...fails, ...results];
  const profiles = await presage.profiles.list({ name: "close enough" });
  const taxonomies = await presage.errorTaxonomies.list({ name: "world-model slips" });
  const runs = await presage.runs.list();
  const [dataset] = await presage.datasets.list();
  const runId = (title: string) =>
    runs.find(({ name, dataset_id }) => dataset_id === dataset?.id && name.endsWith(`, ${title}`))?.id ?? "";
  const compared = ["no change", "sandbox", "degraded sandbox", "most frequent"].map(runId).join(",");
  const worse = await presage.comparisons.listSamples(
    { reference: runId("sandbox"), candidate: runId("degraded sandbox") },
    { evaluator: "exact-match", direction: "worse", limit: 1 },
  );
  const [sample] = worse.data;
  const place = encodeURIComponent(`${sample?.trajectory_id}/${sample?.step}`);
  const trajectory = encodeURIComponent(sample?.trajectory_id ?? "");
  const worlds = await presage.worlds.list();
  const { data: predictions } = await presage.storedPredictions.list({ source: "live", limit: 1 });
  const { path: shared } = await presage.shares.create({ kind: "run", ids: [runId("sandbox")] });
  const [episode] = await presage.episodes.list({ outcome: "success", index: 3 }, { atMost: 1 });
  return [
    { name: "overview", path: "/?period=30d" },
    { name: "playground", path: "/playground", prepare: predict },
    { name: "worlds", path: "/worlds" },
    { name: "world", path: `/worlds/${worlds[0]?.name}`, prepare: answer },
    { name: "deployments", path: "/deployments" },
    { name: "predictions", path: "/predictions?source=live" },
    { name: "prediction", path: `/predictions?source=live&open=${predictions[0]?.id}` },
    { name: "environments", path: "/environments" },
    { name: "environment", path: "/environments/sandbox" },
    { name: "environment-reality", path: "/environments/sandbox?tab=reality" },
    { name: "play", path: `/environments/sandbox/play?episode=${episode?.id}` },
    { name: "episode", path: `/episodes/${episode?.id}?step=2` },
    { name: "runs", path: "/runs" },
    { name: "run", path: `/runs/${runId("sandbox")}` },
    {
      name: "run-print",
      path: `/runs/${runId("sandbox")}`,
      prepare: (page) => page.emulateMedia({ media: "print" }),
    },
    { name: "run-samples", path: `/runs/${runId("sandbox")}?tab=samples` },
    { name: "run-free", path: `/runs/${runId("sandbox, free-running")}` },
    { name: "run-trajectory", path: `/runs/${runId("sandbox")}/trajectories/${trajectory}` },
    { name: "new-run", path: `/runs/new?dataset=${dataset?.id}` },
    { name: "datasets", path: "/datasets" },
    { name: "datasets-upload", path: "/datasets", prepare: previewTraces },
    { name: "dataset", path: `/datasets/${dataset?.id}` },
    { name: "dataset-trajectory", path: `/datasets/${dataset?.id}/trajectories/${trajectory}` },
    { name: "compare", path: `/compare?runs=${compared}` },
    {
      name: "compare-sample",
      path: `/compare?runs=${runId("sandbox")},${runId("degraded sandbox")}&open=${place}`,
    },
    { name: "review", path: "/review" },
    { name: "evaluations", path: "/evaluations" },
    { name: "evaluations-by-sample", path: "/evaluations?view=samples" },
    { name: "evaluation", path: `/evaluations?result=${shown?.id}` },
    { name: "evaluators", path: "/evaluators" },
    { name: "profile", path: `/evaluators/profiles/${profiles[0]?.public_id}` },
    { name: "error-taxonomies", path: "/error-taxonomies" },
    { name: "error-taxonomy", path: `/error-taxonomies/${taxonomies[0]?.error_taxonomy_id}?revision=1` },
    { name: "error-taxonomy-unused", path: `/error-taxonomies/${taxonomies[0]?.error_taxonomy_id}` },
    { name: "usage", path: "/usage?period=30d" },
    { name: "api-keys", path: "/api-keys" },
    { name: "account", path: "/account" },
    { name: "members", path: "/account/members" },
    { name: "audit-log", path: "/account/audit-log" },
    { name: "share", path: shared },
    { name: "docs", path: "/docs" },
    { name: "docs-operation", path: "/docs/createRun" },
    { name: "docs-guide", path: "/docs/guides/runs" },
  ];
}

async function predict(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Examples" }).click();
  await page.getByRole("menuitem").first().click();
  await page.getByRole("button", { name: "Predict", exact: true }).click();
  await page.getByRole("region", { name: "Response 1" }).waitFor();
}

async function answer(page: Page): Promise<void> {
  await page.getByRole("button", { name: "A recorded step" }).click();
  await page.waitForFunction(() => document.querySelector("textarea")?.value !== "");
  await page.getByRole("button", { name: "Answer", exact: true }).click();
  await page.getByRole("region", { name: "Examples" }).waitFor();
}

const traces = join(import.meta.dir, "../../../examples/coding-session.jsonl");

async function previewTraces(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Upload" }).first().click();
  await page.locator('input[type="file"]').setInputFiles(traces);
  await page.getByRole("button", { name: /^Import 4 samples/ }).waitFor();
}

const themes = ["light", "dark"] as const;
const sizes = { wide: { width: 1440, height: 900 }, narrow: { width: 390, height: 844 } } as const;
const settleMs = 1_000;

/** Placeholders, and a title whose page has not been drawn yet. */
const unfinished = ".animate-pulse, main header:has(h1):only-child";

/** Saves every page, light and dark, wide and narrow, as `<page>-<theme>-<size>.png`. */
export async function takeScreenshots(
  browser: Browser,
  signedIn: Awaited<ReturnType<typeof storageState>>,
  url: string,
  shots: readonly Shot[],
  folder: string,
): Promise<string[]> {
  await mkdir(folder, { recursive: true });
  const files: string[] = [];
  for (const colorScheme of themes) {
    for (const [size, viewport] of Object.entries(sizes)) {
      const context = await browser.newContext({ storageState: signedIn, colorScheme, viewport });
      const page = await context.newPage();
      for (const { name, path, prepare } of shots) {
        await page.emulateMedia({ media: "screen" });
        await page.goto(url + path, { waitUntil: "networkidle" });
        await page.waitForSelector(unfinished, { state: "detached" });
        await prepare?.(page);
        await page.waitForSelector(unfinished, { state: "detached" });
        await page.waitForTimeout(settleMs);
        const file = join(folder, `${name}-${colorScheme}-${size}.png`);
        await page.screenshot({ path: file });
        files.push(file);
      }
      await context.close();
    }
  }
  return files;
}

/** Signs in with the address that the server printed, and returns the resulting cookies and storage. */
export async function storageState(browser: Browser, signInAddress: string) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(signInAddress);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  const state = await context.storageState();
  await context.close();
  return state;
}
