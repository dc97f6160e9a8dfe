import { expect } from "bun:test";
import type { Presage, RunCreateRequest } from "@presage/sdk";
import { dashboardTests } from "../support/dashboard-tests.ts";
import type { Page } from "../support/page.ts";

const { dashboardTest, slowBrowserTest, slowDashboardTest } = dashboardTests();

interface Line {
  trajectory_id: string;
  step: number;
  state: string;
  next_state: string;
}

/** Finishes a run on its own dataset. If `predicted` is undefined, it is a run of a baseline. */
async function runOn(
  client: Presage,
  name: string,
  lines: readonly Line[],
  predicted: ((line: Line) => string | null) | undefined,
  more: Partial<RunCreateRequest> = {},
): Promise<string> {
  const toJson = (objects: readonly object[]) => objects.map((one) => `${JSON.stringify(one)}\n`).join("");
  const { id } = await client.datasets.create({ name });
  const samples = lines.map(({ state, ...line }) => ({ ...line, interaction: { state, action: "go on" } }));
  await client.datasets.upload(id, toJson(samples));
  const run = await client.runs.create({
    name,
    dataset_id: id,
    target: predicted === undefined ? { baseline: "no-change" } : { predictions: "imported" },
    evaluators: [{ evaluator: "exact-match" }, { evaluator: "rouge-l" }],
    ...more,
  });
  if (predicted !== undefined) {
    const predictions = lines.map((line) => ({
      trajectory_id: line.trajectory_id,
      step: line.step,
      prediction: predicted(line),
    }));
    await client.runs.uploadPredictions(run.id, toJson(predictions));
  }
  await client.runs.waitUntilEnded(run.id, { pollEveryMs: 50 });
  return run.id;
}

const walk = ["a", "b"].flatMap((trajectory_id) =>
  [0, 1, 2, 3].map((step) => ({
    trajectory_id,
    step,
    state: `${trajectory_id} stands in room ${step}`,
    next_state: `${trajectory_id} stands in room ${step + 1}`,
  })),
);

/** Wrong only in step 2 of `a`; step 3 of `b` fails. */
const mostlyRight = ({ trajectory_id, step, next_state }: Line) => {
  if (trajectory_id === "b" && step === 3) return null;
  return trajectory_id === "a" && step === 2 ? "a stands in the garden" : next_state;
};

const rows = (page: Page) => page.locator("[data-row-link]");

dashboardTest("The matrix is filtered, sorted and browsed, and shared by its address", async (visitor) => {
  const { visit, client } = visitor;
  const id = await runOn(client, "matrix", walk, mostlyRight);
  const page = await visit(`/runs/${id}?tab=samples`);
  await page.getByText("8 of 8 predictions").waitFor();
  await page.getByText("1 prediction failed", { exact: true }).waitFor();
  await page.getByRole("columnheader", { name: "rouge-l" }).getByRole("button").press("Enter");
  await page.waitForURL(/sort=/);
  await page.getByRole("columnheader", { name: "rouge-l" }).getByRole("button").press("Enter");
  await rows(page).first().getByText("b/3").waitFor();
  const names = await rows(page).allTextContents();
  expect(names.slice(0, 2)).toEqual(["b/3", "a/2"]);
  await page.getByRole("radio", { name: "Fail", exact: true }).click();
  await page.getByText("1 of 8 predictions").waitFor();
  await rows(page).first().getByText("a/2").waitFor();
  await rows(page).first().press("Enter");
  const drawer = page.getByRole("dialog", { name: "Sample a/2" });
  await drawer.getByText("Recorded", { exact: false }).first().waitFor();
  await drawer.locator("ins", { hasText: "garden" }).waitFor();
  await drawer.getByRole("list", { name: "Verdicts" }).getByText("Fail").first().waitFor();
  await drawer.getByRole("region", { name: "Explanations" }).getByText("exact-match").waitFor();

  const { pathname, search } = new URL(page.url());
  const elsewhere = await visit(pathname + search);
  await elsewhere.getByRole("dialog", { name: "Sample a/2" }).locator("ins", { hasText: "garden" }).waitFor();
  await elsewhere.getByText("1 of 8 predictions").waitFor();
  await elsewhere.getByRole("dialog").press("Escape");
  await elsewhere.getByRole("dialog").waitFor({ state: "hidden" });
  await elsewhere.getByRole("button", { name: "Clear" }).click();
  await elsewhere.getByText("8 of 8 predictions").waitFor();
  expect(new URL(elsewhere.url()).search).toBe("?tab=samples&sort=e1");
  // Rows are drawn later than their count.
  await rows(elsewhere).first().getByText("b/3").waitFor();
  await rows(elsewhere).first().press("Enter");
  await elsewhere
    .getByText("No prediction for this sample", { exact: false })
    .or(elsewhere.getByText("The prediction failed"))
    .first()
    .waitFor();
  await elsewhere.keyboard.press("j");
  await elsewhere.getByRole("dialog", { name: "Sample a/2" }).waitFor();
});

dashboardTest("What the agent saw: a trajectory names where it diverged, step by step", async (visitor) => {
  const { visit, client } = visitor;
  const id = await runOn(client, "trajectory", walk, mostlyRight);
  const page = await visit(`/runs/${id}?tab=samples&sample=a%2F1`);
  await page.getByRole("link", { name: "Whole trajectory" }).click();
  await page.getByRole("heading", { level: 1, name: "a" }).waitFor();
  await page.getByRole("heading", { name: /^Step 1/ }).waitFor();
  await page.getByText("Recorded and predicted, identical").waitFor();
  await page.getByRole("link", { name: "step 2", exact: true }).first().click();
  await page.getByRole("heading", { name: /^Step 2/ }).waitFor();
  await page.locator("ins", { hasText: "garden" }).waitFor();
  await page.getByRole("link", { name: "Step 2: fail, the first divergence" }).first().waitFor();
  await page.getByText("Prompt as sent").click();
  await page.getByText("Action: ", { exact: false }).first().waitFor();
  await page.keyboard.press("j");
  await page.getByRole("heading", { name: /^Step 3/ }).waitFor();
  const { pathname, search } = new URL(page.url());
  expect(search).toBe("?step=3");
  const elsewhere = await visit(pathname + search);
  await elsewhere.getByRole("heading", { name: /^Step 3/ }).waitFor();
  // Without a step, the page opens at the divergence.
  const again = await visit(pathname);
  await again.getByRole("heading", { name: /^Step 2/ }).waitFor();
  // From another step, a key leads to the divergence.
  await again.keyboard.press("Home");
  await again.getByRole("heading", { name: /^Step 0/ }).waitFor();
  await again.keyboard.press("f");
  await again.getByRole("heading", { name: /^Step 2/ }).waitFor();

  const failed = await visit(`/runs/${id}/trajectories/b?step=3`);
  await failed.getByText("The prediction failed").waitFor();
  await failed.getByText("not known after step 3").first().waitFor();
});

dashboardTest("A trajectory has no number of steps before it is loaded", async ({ visit, client }) => {
  const id = await runOn(client, "slowly", walk, mostlyRight);
  const page = await visit("/account");
  const { promise: looked, resolve: setLooked } = Promise.withResolvers<void>();
  await page.route(/\/v1\/runs\/[^/]+\/(samples|trajectories)/, async (route) => {
    await looked;
    await route.continue();
  });
  await page.goto(new URL(`/runs/${id}/trajectories/a`, page.url()).href);
  await page.getByRole("heading", { level: 1, name: "a" }).waitFor();
  await page.getByRole("main").getByText("teacher-forced").waitFor();
  expect(await page.getByText(/\d steps?/).count()).toBe(0);
  setLooked();
  await page.getByText(/· \d steps/).waitFor();
});

slowDashboardTest(
  "Of a free-running run the page shows what the model was told",
  async ({ visit, client }) => {
    const id = await runOn(client, "free", walk, undefined, { mode: "free-running" });
    const page = await visit(`/runs/${id}/trajectories/a?step=2`);
    const seen = page.getByRole("region", { name: "What the model saw" });
    await seen.getByText("Its own prediction for step 1, in place of the recorded state.").waitFor();
    await seen.locator("ins", { hasText: "0" }).waitFor();
    await seen.locator("del", { hasText: "2" }).waitFor();
    await page.keyboard.press("Home");
    await seen.getByText("The recorded state.").waitFor();
  },
);

slowBrowserTest("Of many samples at most 200 rows are in the page", async ({ visit, client }) => {
  const many = Array.from({ length: 900 }, (_, index) => ({
    trajectory_id: `t${index % 30}`,
    step: Math.floor(index / 30),
    state: "here",
    next_state: `there ${index}`,
  }));
  const id = await runOn(client, "many", many, ({ next_state }) => next_state);
  const page = await visit(`/runs/${id}?tab=samples`);
  const end = page.getByText("900 of 900 predictions");
  await rows(page).first().waitFor();
  let most = 0;
  while (!(await end.isVisible())) {
    await page.getByRole("table", { name: "Samples" }).hover();
    await page.mouse.wheel(0, 20_000);
    most = Math.max(most, await page.getByRole("row").count());
  }
  expect(most).toBeGreaterThan(10);
  expect(most).toBeLessThanOrEqual(200);
});
