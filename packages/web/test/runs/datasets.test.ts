import { expect } from "bun:test";
import { dashboardTests } from "../support/dashboard-tests.ts";
import { expectAccessible } from "../support/expect-accessible.ts";
import type { Page } from "../support/page.ts";

const { browserTest, dashboardTest, slowDashboardTest } = dashboardTests();

/** The lines of trajectories with these names and numbers of steps. */
function linesOf(lengths: Record<string, number>): string {
  return Object.entries(lengths)
    .flatMap(([trajectory_id, steps]) =>
      Array.from({ length: steps }, (_, step) => ({
        trajectory_id,
        step,
        context: { task_context: "Count the doors." },
        interaction: { state: `${step} doors are open.\nIt rains.`, action: `open door ${step}` },
        next_state: `${step + 1} doors are open.\nIt rains.`,
        tags: { house: trajectory_id },
      })),
    )
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("");
}

const longestFirst = (page: Page) => page.locator("tbody tr").first().getByRole("link", { name: "long" });

async function choose(page: Page, files: Record<string, string>): Promise<void> {
  const chosen = Object.entries(files).map(([name, text]) => ({
    name,
    mimeType: "",
    buffer: Buffer.from(text),
  }));
  await page.getByRole("dialog").getByLabel("Files").setInputFiles(chosen);
}

/** A chat in which a tool answers one call, next to which there is a text. */
function chatOf(id: string): string {
  const call = { id: "c1", type: "function", function: { name: "shell", arguments: '{"cmd":"ls drawer"}' } };
  const messages = [
    { role: "user", content: "Find the key." },
    { role: "assistant", content: "I look.", tool_calls: [call] },
    { role: "tool", tool_call_id: "c1", content: "key.txt" },
    { role: "assistant", content: "Found." },
  ];
  return `${JSON.stringify({ id, messages, reward: 1 })}\n`;
}

browserTest("A file is uploaded once its wrong line is mended", async ({ visit, client }) => {
  const page = await visit("/datasets");
  await page.getByRole("heading", { name: "No datasets yet" }).waitFor();
  await page.getByRole("button", { name: "Upload", exact: true }).click();
  await choose(page, { "doors.jsonl": `${linesOf({ hall: 2 })}{"trajectory_id": "hall", "stop": 2}\n` });
  const alert = page.getByRole("alert");
  await alert.getByText("Line 3, step: Field required").waitFor();
  await alert.getByText(`"stop"`).first().waitFor();
  expect(await page.getByRole("button", { name: "Import 2 samples" }).isDisabled()).toBe(true);
  await expectAccessible(page);

  await choose(page, { "doors.jsonl": linesOf({ hall: 2, attic: 3, cellar: 1 }) });
  expect(await client.datasets.list()).toEqual([]);
  await page.getByRole("button", { name: "Import 6 samples" }).click();
  await page.getByRole("heading", { level: 1, name: "doors" }).waitFor();
  await page.getByText("3 trajectories", { exact: true }).waitFor();
  expect((await client.datasets.list())[0]?.latest_revision?.samples).toBe(6);
});

slowDashboardTest("Several files are previewed, and become one revision", async (visitor) => {
  const { visit, client, expectErrors } = visitor;
  expectErrors(/status of 422/);
  const page = await visit("/datasets");
  await page.getByRole("button", { name: "Upload", exact: true }).click();
  await choose(page, {
    "one.jsonl": chatOf("one"),
    "two.json": chatOf("two"),
    "notes.json": '{"text":"no"}',
    "words.json": "words",
  });
  const one = page.getByRole("region", { name: "one.jsonl" });
  await one.getByText("messages with tool calls").waitFor();
  await one.getByText("1 last message of the agent, 1 text beside a call of a tool").waitFor();
  await one.getByText("reward (all)").waitFor();
  const notes = page.getByRole("region", { name: "notes.json" });
  await notes.getByText("No format fits this file").waitFor();
  await notes.getByText("What each format needs").waitFor();
  await page.getByText("2 files cannot be read.").waitFor();
  await notes.getByRole("button", { name: "Remove notes.json" }).click();
  await page.getByText("words.json cannot be read.").waitFor();
  await page.getByRole("button", { name: "Leave it out" }).click();
  await page.getByRole("button", { name: "Import 2 samples" }).waitFor();

  await page.getByText("Further options").click();
  await page.getByLabel("The assistant is").selectOption("The environment");
  await one.getByText("Line 1, messages.2.role").waitFor();
  await page.getByLabel("The assistant is").selectOption("Detected");
  await page.getByLabel("Split").selectOption("By trajectory");
  await page.getByRole("button", { name: "Import 2 samples" }).click();
  await page.getByRole("heading", { level: 1, name: "one" }).waitFor();
  await page.getByText("2 last messages of the agent, 2 texts beside calls of tools").waitFor();
  await page.getByText("split_by=trajectory").waitFor();
  const [dataset] = (await client.datasets.list()).filter(({ name }) => name === "one");
  expect(dataset?.latest_revision).toMatchObject({ revision: 1, samples: 2, trajectories: 2 });
});

dashboardTest("A step of a trajectory is reached by keyboard and shared by its address", async (visitor) => {
  const { visit, client } = visitor;
  const { id } = await client.datasets.create({ name: "house" });
  await client.datasets.upload(id, linesOf({ hall: 2, attic: 5, cellar: 1 }));
  const page = await visit("/datasets");
  await page.getByRole("link", { name: "house" }).press("Enter");
  await page.getByRole("searchbox", { name: "Find trajectories" }).fill("ATT");
  await page.getByRole("link", { name: "hall" }).waitFor({ state: "detached" });
  expect(new URL(page.url()).search).toBe("?q=ATT");
  await page.getByRole("link", { name: "attic" }).press("Enter");
  await page.getByRole("heading", { name: "Step 0" }).waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  await page.getByRole("heading", { name: "Step 1" }).waitFor();
  await page.keyboard.press("End");
  await page.getByRole("heading", { name: "Step 4" }).waitFor();
  await page.keyboard.press("Home");
  await page.getByRole("heading", { name: "Step 0" }).waitFor();
  // Two keys count as two steps, even if nothing was drawn in between.
  await page.evaluate(() => {
    for (const key of ["j", "j"])
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  });
  await page.getByRole("heading", { name: "Step 2" }).waitFor();
  await page.keyboard.press("End");
  await page.getByRole("heading", { name: "Step 4" }).waitFor();
  await page.keyboard.press("k");
  await page.locator("pre").getByText("open door 3").waitFor();

  const { pathname, search } = new URL(page.url());
  expect(search).toBe("?step=3");
  const elsewhere = await visit(pathname + search);
  await elsewhere.locator("pre").getByText("open door 3").waitFor();
  await elsewhere.getByText("house=attic").waitFor();
  // Changes are marked not only by colour.
  await elsewhere.locator("del", { hasText: "3" }).waitFor();
  await elsewhere.locator("ins", { hasText: "4" }).waitFor();
  expect(await elsewhere.locator("[data-current]").textContent()).toBe("3");
});

dashboardTest("Steps that could not be loaded are asked for again only by their reader", async (visitor) => {
  const { visit, client, expectErrors } = visitor;
  const { id } = await client.datasets.create({ name: "long" });
  await client.datasets.upload(id, linesOf({ hall: 150 }));
  expectErrors(/status of 400/);
  const page = await visit(`/datasets/${id}/trajectories/hall?step=10`);
  await page.getByRole("heading", { name: "Step 10" }).waitFor();
  let asked = 0;
  await page.route(/\/trajectories\/hall\?.*after=/, (route) => {
    asked += 1;
    return route.fulfill({ status: 400, json: { detail: "Not now" } });
  });
  await page.keyboard.press("End");
  await page.getByRole("alert").getByText("Not now").waitFor();
  await page.keyboard.press("k");
  await page.getByRole("heading", { name: "Step 98" }).waitFor();
  expect(asked).toBe(1);
});

slowDashboardTest("Revisions are kept apart, and the longest trajectories come first", async (visitor) => {
  const { visit, client } = visitor;
  const { id } = await client.datasets.create({ name: "revised" });
  await client.datasets.upload(id, linesOf({ first: 1 }));
  const page = await visit(`/datasets/${id}`);
  await page.getByRole("button", { name: "Upload", exact: true }).click();
  await choose(page, { "more.jsonl": linesOf({ short: 1, long: 4, middle: 2 }) });
  await page.getByRole("button", { name: "Import 7 samples" }).click();
  await page.getByRole("link", { name: "middle" }).waitFor();
  await page.getByRole("columnheader", { name: "Steps" }).getByRole("button").click();
  const names = () => page.locator("[data-row-link]").allInnerTexts();
  await longestFirst(page).waitFor();
  expect(await names()).toEqual(["long", "middle", "short"]);
  const { searchParams, pathname, search } = new URL(page.url());
  expect([searchParams.get("revision"), searchParams.get("sort")]).toEqual(["2", "-steps"]);
  await page.getByRole("link", { name: /^Revision 1/ }).click();
  await page.getByRole("link", { name: "first" }).waitFor();
  const elsewhere = await visit(pathname + search);
  await longestFirst(elsewhere).waitFor();
});

slowDashboardTest("A deletion names the runs that go with the dataset", async ({ visit, client }) => {
  const { id } = await client.datasets.create({ name: "doomed" });
  await client.datasets.upload(id, linesOf({ hall: 1 }));
  const run = await client.runs.create({
    name: "on the doomed",
    dataset_id: id,
    target: { baseline: "no-change" },
    evaluators: [{ evaluator: "exact-match" }],
  });
  await client.runs.waitUntilEnded(run.id, { pollEveryMs: 50 });
  const page = await visit(`/datasets/${id}`);
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Delete the dataset" }).click();
  await page.getByRole("alertdialog").getByText("on the doomed").waitFor();
  await page.getByRole("button", { name: "Delete dataset and 1 run" }).click();
  await page.getByRole("heading", { level: 1, name: "Datasets" }).waitFor();
  expect((await client.datasets.list()).map(({ name }) => name)).not.toContain("doomed");
  expect(await client.runs.list({ dataset_id: id })).toEqual([]);
});
