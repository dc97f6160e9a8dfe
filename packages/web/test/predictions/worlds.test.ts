import { expect } from "bun:test";
import type { Presage } from "@presage/sdk";
import { eventually, expectEventually } from "../../../server/test/support/eventually.ts";
import { dashboardTests } from "../support/dashboard-tests.ts";
import { expectAccessible, wide } from "../support/expect-accessible.ts";
import { finishRun, uploadHousehold } from "../support/household.ts";
import type { Page } from "../support/page.ts";

/** There is no upstream, so the sandbox responds. */
const { dashboardTest, slowBrowserTest, slowDashboardTest } = dashboardTests(() => ({
  environment: { PRESAGE_CAPTURE: "all" },
}));

let uploading: ReturnType<typeof uploadHousehold> | undefined;
async function examples(client: Presage) {
  uploading ??= uploadHousehold(client, "traces");
  return { dataset: (await uploading).id };
}
const retrieval = { kind: "retrieval" } as const;

dashboardTest("A world is made of a dataset, answers a step and says what it leaned on", async (visitor) => {
  const { visit, client, expectErrors } = visitor;
  expectErrors(/status of 409/);
  await client.worlds.create({ name: "taken", examples: await examples(client), model: retrieval });
  const page = await visit("/worlds", { viewport: wide });
  await page.getByRole("button", { name: "New world" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Dataset").selectOption({ label: "traces, revision 1: 6 samples" });
  await dialog.getByRole("textbox", { name: "Name" }).fill("taken");
  await dialog.getByRole("button", { name: "Make the world" }).click();
  await dialog.getByText("There is already a world").waitFor();
  await dialog.getByRole("textbox", { name: "Name" }).fill("rooms");
  await dialog.getByRole("button", { name: "Make the world" }).click();
  await page.getByRole("heading", { level: 1, name: "rooms" }).waitFor();

  await page.getByRole("button", { name: "Answer", exact: true }).click();
  await page.getByText("This field is required.").first().waitFor();
  await page.getByRole("textbox", { name: "State" }).fill("You see a closed cupboard.");
  await page.getByRole("textbox", { name: "Action" }).fill("open cupboard");
  // The typed text is still there after visiting another tab.
  await page.getByRole("tab", { name: /^Revisions/ }).click();
  await page.getByRole("tab", { name: "Answer" }).click();
  await page.getByRole("button", { name: "Answer", exact: true }).click();
  const answer = page.getByRole("region", { name: "Answer" });
  await answer.getByText("You open the cupboard.").waitFor();
  await answer.getByText(/^[\d.]+ (µs|ms|s) · no model asked/).waitFor();
  const leanedOn = page.getByRole("region", { name: "Examples" });
  await leanedOn.getByText("6 recorded examples, the most similar first.").waitFor();
  await leanedOn.getByText("the answer", { exact: true }).waitFor();
  const first = leanedOn.getByRole("listitem").first();
  await first.locator("summary").click();
  await first.getByText(/^Similar by action 0\.\d+ × 0\.78, state 0\.\d+ × 0\.22, no task$/).waitFor();
  const link = first.getByRole("link", { name: "Its trajectory in traces" });
  const { data: kept } = await client.worlds
    .preview("rooms", { interaction: { state: "You see a closed cupboard.", action: "open cupboard" } })
    .then(({ explain }) => ({ data: explain.examples[0] }));
  expect(await link.getAttribute("href")).toContain(`/trajectories/${kept?.trajectory_id}?revision=1&step=0`);
  await leanedOn.getByText("The whole prompt").click();
  await leanedOn.getByText("Action: open cupboard").waitFor();

  await page.getByRole("button", { name: "Continue from this answer" }).click();
  expect(await page.getByRole("textbox", { name: "State" }).inputValue()).toBe("You open the cupboard.");
  await page.getByRole("textbox", { name: "Action" }).fill("close cupboard");
  await page.getByRole("button", { name: "Answer", exact: true }).click();
  await leanedOn.getByText("The whole prompt").click();
  // The prompt of the next step contains the previous step.
  await leanedOn.getByText("Action: open cupboard").waitFor();
  await leanedOn.getByText("Action: close cupboard").waitFor();
});

dashboardTest("A dataset leads to a new world of it", async ({ visit, client }) => {
  const { dataset } = await examples(client);
  const page = await visit(`/datasets/${dataset}`, { viewport: wide });
  await page.getByRole("link", { name: "New world" }).click();
  const dialog = page.getByRole("dialog");
  await expectEventually(() => dialog.getByLabel("Dataset").inputValue(), dataset);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  expect(new URL(page.url()).search).toBe("");
});

slowDashboardTest(
  "Usage says which share of the tokens were examples of worlds",
  async ({ visit, client }) => {
    await client.worlds.create({ name: "leaning", examples: await examples(client) });
    await client.predict({
      interaction: { state: "You see a cupboard.", action: "open it" },
      world: "leaning",
    });
    const { people } = await eventually(
      () => client.usage.people(),
      ({ total }) => total.example_tokens > 0,
    );
    const [{ example_tokens = 0, prompt_tokens = 0, completion_tokens = 0 } = {}] = people;
    const share = ((100 * example_tokens) / (prompt_tokens + completion_tokens)).toFixed(1);
    const page = await visit("/usage");
    await page.getByRole("row", { name: "Owner" }).getByText(`· ${share} % examples`).waitFor();
  },
);

async function answerRecordedStep(page: Page): Promise<void> {
  await page.getByRole("button", { name: "A recorded step" }).click();
  await page
    .locator("textarea")
    .filter({ hasText: /You see/ })
    .first()
    .waitFor();
  await page.getByRole("button", { name: "Answer", exact: true }).click();
  await page
    .getByText(/Exactly what was recorded|Recorded, missing$/)
    .first()
    .waitFor();
}

dashboardTest("A recorded step is answered without its own trajectory", async ({ visit, client }) => {
  await client.worlds.create({ name: "drawn", examples: await examples(client), model: retrieval });
  const page = await visit("/worlds/drawn");
  await answerRecordedStep(page);
  const leftOut = page.getByText("Left out: 2 of its own trajectory", { exact: false });
  await leftOut.waitFor();
  // The recorded step is still known after visiting another tab.
  await page.getByRole("tab", { name: /^Examples/ }).click();
  await page.getByRole("tab", { name: "Answer" }).click();
  await page.getByText("No answer yet").waitFor();
  await page.getByRole("button", { name: "Answer", exact: true }).click();
  await leftOut.waitFor();
  const field = page.getByRole("textbox", { name: "Action" });
  const action = await field.inputValue();
  // A click does not discard the typed text.
  await field.fill("sing");
  await page.getByRole("button", { name: "A recorded step" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("alertdialog").waitFor({ state: "detached" });
  expect(await field.inputValue()).toBe("sing");
  await field.fill(action);
  await page.getByRole("button", { name: "Continue from this answer" }).click();
  await page.reload();
  await page.getByRole("textbox", { name: "Action" }).fill("look around");
  await page.getByRole("button", { name: "Answer", exact: true }).click();
  await leftOut.waitFor();
  await page.getByText("The whole prompt").click();
  await page.getByText("Action: look around").waitFor();
  // Examples begin with their states.
  await page.getByText(`Action: ${action}`, { exact: true }).waitFor();
});

dashboardTest("A recorded step is answered without what has its task", async ({ visit, client }) => {
  const { id: dataset } = await client.datasets.create({ name: "by task" });
  const lines = ["a", "a", "b"].map((task, index) =>
    JSON.stringify({
      ...{ trajectory_id: `t-${index}`, step: 0, tags: { task }, next_state: "Done." },
      interaction: { state: `You see box ${index}.`, action: "open box" },
    }),
  );
  await client.datasets.upload(dataset, `${lines.join("\n")}\n`);
  const byTask = { exclude_by: "tag:task" };
  await client.worlds.create({ name: "apart", examples: { dataset }, model: retrieval, retrieval: byTask });
  const page = await visit("/worlds/apart");
  await answerRecordedStep(page);
  const state = await page.getByRole("textbox", { name: "State" }).inputValue();
  const count = state === "You see box 2." ? 1 : 2;
  await page.getByText(`Left out: ${count} excluded`, { exact: false }).waitFor();
});

dashboardTest("Revisions say in words what changed; an archived world is in no list", async (visitor) => {
  const { visit, client } = visitor;
  await client.worlds.create({ name: "changing", examples: await examples(client), model: retrieval });
  const page = await visit("/worlds/changing");
  await page.getByRole("button", { name: "Revise" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Examples in a prompt" }).fill("3");
  await dialog.getByLabel("Answers by").selectOption({ label: "The default deployment" });
  await dialog.getByRole("textbox", { name: "Instructions" }).fill("You are a house.");
  await dialog.getByRole("button", { name: "Save as revision 2" }).click();
  await dialog.waitFor({ state: "detached" });
  expect((await client.worlds.get("changing")).config).toMatchObject({
    retrieval: { k: 3 },
    instructions: "You are a house.",
    examples: { dataset: expect.any(String) },
  });
  await page.getByRole("tab", { name: "Revisions" }).click();
  await page.getByText("Answers by: the records alone → the default deployment").waitFor();
  await page
    .getByText("In a prompt: at most 8 examples with 12,000 characters → at most 3 examples")
    .waitFor();
  await page.getByText("Instructions added").waitFor();
  await page.getByRole("heading", { name: "Revision 2 just now by Owner" }).waitFor();
  await page.getByRole("heading", { name: "Revision 1 just now by Owner" }).waitFor();
  await client.worlds.revise("changing", { reward: { evaluator: "exact-match", when: "last" } });
  const reward = "The score of exact-match (system:default) on the last step";
  await page.reload();
  await page.getByText(`Reward: none → ${reward}`).waitFor();
  await client.environments.create({ name: "played", world: "changing" });
  const other = await visit("/environments/played?tab=definition");
  await other.getByText("world changing@3", { exact: true }).waitFor();
  await other.getByText(`${reward}, as the world has it`).waitFor();
  await client.environments.delete("played");
  expect(await page.getByRole("tab", { name: "Quality" }).count()).toBe(0);

  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Archive the world" }).click();
  await page.getByText("archived: lists leave it out").waitFor();
  await page.getByRole("link", { name: "Worlds" }).click();
  await page.getByRole("heading", { level: 1, name: "Worlds" }).waitFor();
  await page.getByText("All worlds").waitFor();
  expect(await page.getByRole("link", { name: "changing" }).count()).toBe(0);
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog", { name: "Go to" }).getByRole("combobox").fill("worlds");
  await page.getByRole("option", { name: "Worlds" }).first().waitFor();
});

slowDashboardTest("What a world answered is not asked of anything else once it is gone", async (visitor) => {
  const { visit, client } = visitor;
  await client.worlds.create({ name: "gone", examples: await examples(client), model: retrieval });
  let request_id = "";
  await client.predict(
    { world: "gone", interaction: { state: "You see a box.", action: "open box" } },
    {
      onResponse({ headers }) {
        request_id = headers.get("x-request-id") ?? "";
      },
    },
  );
  const { data } = await eventually(
    () => client.storedPredictions.list({ request_id }),
    ({ data }) => data.length > 0,
  );
  await client.worlds.delete("gone");
  const page = await visit(`/predictions?open=${data[0]?.id}`, { viewport: wide });
  await page.getByRole("button", { name: "Replay in the playground" }).click();
  await page.getByRole("alert").getByText("There is no world gone any more.").waitFor();
  const predict = page.getByRole("button", { name: "Predict" });
  expect(await predict.isDisabled()).toBe(true);
  await page.getByRole("button", { name: "Ask without it" }).click();
  await page.getByRole("alert").waitFor({ state: "detached" });
  expect(await predict.isDisabled()).toBe(false);
});

slowDashboardTest("Without a model the playground offers the account’s world", async ({ visit, client }) => {
  await client.worlds.create({
    name: "offered",
    context: { domain_knowledge: "Doors are heavy." },
    examples: await examples(client),
    model: retrieval,
  });
  const page = await visit("/playground");
  await page.getByText("No model is configured").waitFor();
  await page.getByRole("button", { name: "Parameters" }).waitFor();
  await page.getByRole("combobox", { name: "Answered by" }).selectOption("World offered@1");
  await page.getByText("The world gives: domain knowledge.").waitFor();
  expect(await page.getByRole("button", { name: "Parameters" }).count()).toBe(0);
  await page.getByRole("textbox", { name: "State", exact: true }).fill("You see a closed cupboard.");
  await page.getByRole("textbox", { name: "Action", exact: true }).fill("open cupboard");
  const prompt = page.getByRole("tabpanel", { name: "Prompt" });
  await prompt.getByText("Doors are heavy.").waitFor();
  await prompt.getByText("Action: open oven").waitFor();
  await page.getByRole("button", { name: "Predict" }).click();
  const response = page.getByRole("region", { name: "Response 1" });
  await response.getByText("You open the cupboard.").waitFor();
  await page.getByText("retrieval, through offered@1").waitFor();
  await response.getByRole("region", { name: "Examples" }).getByText("6 recorded examples").waitFor();
  await page.getByRole("tab", { name: "Code" }).click();
  await page.getByText('"world": "offered@1"').waitFor();
});

slowDashboardTest("A stored prediction says which world and which examples it leaned on", async (visitor) => {
  const { visit, client } = visitor;
  await client.worlds.create({ name: "stored", examples: await examples(client), model: retrieval });
  const interaction = { state: "You see a closed oven.", action: "open oven" };
  let request_id = "";
  await client.predict(
    { interaction, world: "stored" },
    {
      onResponse({ headers }) {
        request_id = headers.get("x-request-id") ?? "";
      },
    },
  );
  const { data } = await eventually(
    () => client.storedPredictions.list({ request_id }),
    ({ data }) => data.length > 0,
  );
  const page = await visit(`/predictions?open=${data[0]?.id}`);
  const drawer = page.getByRole("dialog");
  await drawer.getByText("What the world was asked").waitFor();
  const nearest = drawer.getByRole("region", { name: "Examples" }).getByRole("listitem").first();
  await nearest.getByText("oven/0", { exact: true }).waitFor();
  await nearest.getByText("the answer").waitFor();
  await drawer.getByRole("link", { name: "stored@1" }).click();
  await page.getByRole("heading", { level: 1, name: "stored" }).waitFor();
});

dashboardTest("Runs that asked a world are its quality", async ({ visit, client }) => {
  const { dataset } = await examples(client);
  await client.worlds.create({ name: "measured", examples: { dataset }, model: retrieval });
  const list = await visit("/worlds", { viewport: wide });
  await list.getByRole("link", { name: "Measure measured@1" }).click();
  await expectEventually(() => list.getByRole("combobox", { name: "World" }).inputValue(), "measured@1");
  expect(await list.getByRole("combobox", { name: "Dataset" }).inputValue()).toBe(dataset);
  await finishRun(client, { name: "by its records", dataset_id: dataset, target: { world: "measured" } });
  await finishRun(client, {
    ...{ name: "beside it", dataset_id: dataset, target: { baseline: "no-change" } },
    tags: { world: "measured@1" },
  });
  const page = await visit("/worlds/measured");
  await page.getByRole("tab", { name: "Quality 2" }).click();
  await page.getByRole("row").filter({ hasText: "beside it" }).getByText("no-change").waitFor();
  const row = page.getByRole("row").filter({ hasText: "by its records" });
  await row.getByText("revision 1").waitFor();
  await row.getByText("exact-match").waitFor();
  await row.getByText("50.0 %", { exact: true }).waitFor();
  await row.getByText("baseline no change").waitFor();

  await page.getByRole("tab", { name: "Examples 6" }).click();
  const coverage = page.getByRole("region", { name: "Coverage" });
  await coverage.getByRole("link", { name: "by its records" }).waitFor();
  await coverage.getByText("3 of 6 right by exact-match", { exact: false }).waitFor();
  await coverage.getByRole("rowheader", { name: "open" }).waitFor();

  await client.worlds.revise("measured", { retrieval: { k: 1 } });
  await finishRun(client, { name: "with one", dataset_id: dataset, target: { world: "measured" } });
  await page.goto(new URL("/worlds/measured?tab=quality", page.url()).href);
  const newest = page.getByRole("row").filter({ hasText: "with one" });
  await newest.getByRole("link", { name: "no difference shown, 0.0 points" }).waitFor();
  await newest.getByText("6 samples in 3 trajectories, from revision 1").waitFor();
});

slowBrowserTest("A calibrated world says what its confidences are worth", async (visitor) => {
  const { visit, client, expectErrors } = visitor;
  expectErrors(/status of 422/);
  const lines = Array.from({ length: 60 }, (_, index) => ({
    ...{ trajectory_id: `g-${index % 20}`, step: Math.floor(index / 20) },
    interaction: { state: "A hall.", action: index % 3 === 0 ? "wave" : "draw a lot" },
    next_state: index % 3 === 0 ? "They wave back." : `Number ${index}.`,
  }));
  const text = lines.map((line) => JSON.stringify(line)).join("\n");
  const { dataset } = await client.datasets.import("lots", text);
  const confidence = { methods: ["retrieval" as const] };
  await client.worlds.create({ name: "sure", examples: { dataset: "lots" }, model: retrieval, confidence });
  const wanted = { dataset_id: dataset.id, target: { world: "sure" } };
  const { id } = await finishRun(client, { name: "to calibrate on", ...wanted });
  await client.worlds.calibrate("sure", { run_id: id });
  const page = await visit("/worlds/sure?tab=confidence", { viewport: wide, reducedMotion: "reduce" });
  const worth = page.getByRole("region", { name: "What they are worth" });
  await worth.getByText("Raw scores, before calibration.").waitFor();
  await page.getByText("in 60 predictions of 20 trajectories").waitFor();
  await page.getByRole("link", { name: "to calibrate on" }).first().waitFor();

  await finishRun(client, { name: "since then", ...wanted });
  await page.reload();
  await worth.getByText(/^Fitted on this dataset: /).waitFor();
  await worth.getByRole("link", { name: "since then" }).waitFor();
  await worth.getByRole("row", { name: /^AUROC 1\.000 / }).waitFor();
  await worth.getByText(/^Coverage: No share of the predictions/).waitFor();
  await expectAccessible(page);
  await page.getByRole("tab", { name: /^Examples/ }).click();
  await page.getByRole("table").filter({ hasText: "Wrong then" }).waitFor();
  await expectAccessible(page);

  await page.getByRole("tab", { name: /^Confidence/ }).click();
  await worth.getByRole("link", { name: "since then" }).click();
  await page.getByRole("figure", { name: "Risk by what is kept" }).waitFor();
  await page.getByRole("figure", { name: "Right by confidence" }).waitFor();
  await expectAccessible(page);
  await page.goBack();

  // A revision that changes the answers drops the calibration, without which no answer can abstain.
  await client.worlds.revise("sure", { confidence: { ...confidence, min_confidence: 0.5 } });
  await page.reload();
  await page.getByRole("button", { name: "Revise" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Examples in a prompt" }).fill("3");
  await dialog.getByRole("button", { name: "Save as revision 4" }).click();
  await dialog.getByText("ends the world's calibration", { exact: false }).waitFor();
  await dialog.getByRole("textbox", { name: "Least confidence" }).fill("");
  await dialog.getByRole("button", { name: "Save as revision 4" }).click();
  await dialog.waitFor({ state: "detached" });
  const { config, pinned } = await client.worlds.get("sure");
  expect([config.confidence?.min_confidence, pinned.calibration]).toEqual([null, null]);
});

slowBrowserTest(
  "An answer and its examples are accessible, wide and narrow, light and dark",
  async (visitor) => {
    const { visit, client } = visitor;
    await client.worlds.create({ name: "seen", examples: await examples(client), model: retrieval });
    const page = await visit("/worlds/seen", { viewport: wide, reducedMotion: "reduce" });
    await answerRecordedStep(page);
    await page.getByRole("region", { name: "Examples" }).locator("summary").first().click();
    await page
      .getByText(/^Similar by action /)
      .first()
      .waitFor();
    await expectAccessible(page);
  },
);

dashboardTest(
  "What a form has chosen is shown, also when it is offered no more",
  async ({ visit, client }) => {
    await client.worlds.create({ name: "revised", examples: await examples(client), model: retrieval });
    const page = await visit("/runs/new", { viewport: wide });
    await page.getByRole("radio", { name: "World" }).click();
    const world = page.getByRole("combobox", { name: "World" });
    await world.selectOption("revised@1");
    await client.worlds.revise("revised", { description: "newer" });
    await page.reload();
    await page.getByRole("option", { name: "revised@2" }).waitFor({ state: "attached" });
    expect(await world.inputValue()).toBe("revised@1");
  },
);
