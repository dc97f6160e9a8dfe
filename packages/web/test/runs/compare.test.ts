import { expect } from "bun:test";
import type { Presage } from "@presage/sdk";
import { comparisonMarkdown } from "../../src/pages/compare/comparison-markdown.ts";
import { dashboardTests } from "../support/dashboard-tests.ts";
import { expectAccessible } from "../support/expect-accessible.ts";
import { follow } from "../support/share-page.ts";

const { browserTest, slowBrowserTest, dashboardTest } = dashboardTests();

const rooms = [
  "kitchen",
  "hall",
  "attic",
  "cellar",
  "pantry",
  "loft",
  "yard",
  "shed",
  "study",
  "porch",
  "den",
  "bath",
];
const steps = ["open window", "close window", "sing"];
const samples = rooms.flatMap((room) =>
  steps.map((action, step) => ({
    trajectory_id: room,
    step,
    interaction: { state: `You are in the ${room}, step ${step}.`, action },
    next_state: `The ${room} hears ${action}.`,
  })),
);
const toLines = (objects: readonly unknown[]) =>
  objects.map((object) => `${JSON.stringify(object)}\n`).join("");

/** Two runs: the second is right except for the songs of some rooms, the first is right only about windows that open. */
let filling: Promise<{ reference: string; candidate: string }> | undefined;
async function fill(client: Presage) {
  const { id: dataset_id } = await client.datasets.create({ name: "houses" });
  await client.datasets.upload(dataset_id, toLines(samples));
  async function run(name: string, isRight: (sample: (typeof samples)[number]) => boolean): Promise<string> {
    const { id } = await client.runs.create({
      name,
      dataset_id,
      target: { predictions: "imported" },
      evaluators: [{ evaluator: "exact-match" }],
    });
    const predictions = samples.map((sample) => ({
      trajectory_id: sample.trajectory_id,
      step: sample.step,
      prediction: isRight(sample) ? sample.next_state : `Nothing happens, says ${name}.`,
    }));
    await client.runs.uploadPredictions(id, toLines(predictions));
    await client.runs.waitUntilEnded(id, { pollEveryMs: 200 });
    return id;
  }
  const reference = await run("old model", ({ step }) => step === 0);
  const candidate = await run("new model", ({ step, trajectory_id }) => step < 2 && trajectory_id.length < 7);
  return { reference, candidate };
}

browserTest(
  "Which of two is better: chosen from the list, the page ends on the figure",
  async ({ visit, client }) => {
    filling ??= fill(client);
    await filling;
    const page = await visit("/");
    await page.getByRole("link", { name: "Runs", exact: true }).click();
    await page.getByRole("link", { name: "Compare", exact: true }).click();
    await page.getByRole("checkbox", { name: "old model" }).check();
    await page.getByRole("checkbox", { name: "new model" }).check();
    await page.getByRole("button", { name: "Compare 2 runs" }).click();
    const said = page.getByRole("list", { name: "What the comparison says" });
    await said
      .getByText(
        /^new model is better than old model on exact-match by 27\.8 points of the mean score, 95\s% interval/,
      )
      .waitFor();

    const table = page.getByRole("region", { name: "Differences from the reference" });
    const row = table.getByRole("row").filter({ hasText: "new model" });
    expect(await row.textContent()).toContain("+27.8");
    await row.getByText("+27.8").focus();
    await page
      .getByRole("tooltip")
      .getByText(/over 36 samples in 12 trajectories/)
      .first()
      .waitFor();

    // The first run is the reference until another is chosen.
    await page.getByRole("button", { name: "Make reference" }).click();
    await said.getByText(/^old model is worse than new model on exact-match by 27\.8 points/).waitFor();
  },
);

dashboardTest(
  "The samples that changed sides show both outputs beside what was recorded",
  async (visitor) => {
    filling ??= fill(visitor.client);
    const { reference, candidate } = await filling;
    const page = await visitor.visit(`/compare?runs=${reference},${candidate}`);
    await page.getByRole("radio", { name: /Got better/ }).click();
    // The list shows actions, and where the predictions diverge, before a sample is opened.
    const row = page.getByRole("row").filter({ has: page.getByRole("link", { name: "hall/1" }) });
    for (const shows of ["close window", "Nothing happens, says old model.", "as recorded"])
      await row.getByText(shows, { exact: true }).waitFor();
    await page.getByRole("link", { name: "hall/1" }).click();
    const drawer = page.getByRole("dialog", { name: "Sample hall, step 1" });
    await drawer
      .getByRole("region", { name: "Output of A" })
      .getByText("Nothing happens, says old model.")
      .first()
      .waitFor();
    await drawer
      .getByRole("region", { name: "Output of B" })
      .getByText("Recorded and predicted, identical")
      .waitFor();
    await page.keyboard.press("j");
    await page.getByRole("dialog", { name: "Sample hall, step 1" }).waitFor({ state: "detached" });
    expect(new URL(page.url()).searchParams.get("open")).not.toBe("hall/1");

    // A link shows a colleague the same, even if the list is not loaded that far.
    const other = await visitor.visit(
      `/compare?runs=${reference},${candidate}&direction=better&open=attic%2F2`,
    );
    const theirs = other.getByRole("dialog", { name: "Sample attic, step 2" });
    await theirs
      .getByRole("region", { name: "Output of B" })
      .getByText("Nothing happens, says new model.")
      .first()
      .waitFor();
    await other.keyboard.press("Escape");
    await theirs.waitFor({ state: "detached" });
  },
);

dashboardTest("Runs of an address that were deleted do not stand in the way of others", async (visitor) => {
  visitor.expectErrors(/status of 404/);
  filling ??= fill(visitor.client);
  const { reference } = await filling;
  const page = await visitor.visit(`/compare?runs=${reference},${crypto.randomUUID()}`);
  await page.getByText("1 of at most 5 chosen.").waitFor();
  await page.getByRole("checkbox", { name: "new model" }).check();
  await page.getByRole("button", { name: "Compare 2 runs" }).click();
  await page.getByRole("list", { name: "What the comparison says" }).waitFor();
});

slowBrowserTest("A comparison is copied as Markdown and downloaded", async (visitor) => {
  filling ??= fill(visitor.client);
  const { reference, candidate } = await filling;
  const page = await visitor.visit(`/compare?runs=${reference},${candidate}`);
  await page.getByRole("button", { name: "Download" }).click();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("menuitem", { name: "Markdown" }).click(),
  ]);
  const text = await Bun.file(await download.path()).text();
  expect(text).toContain("- new model is better than old model on exact-match by 27.8 points");
  expect(text).toContain("+27.8");
  const comparison = await visitor.client.comparisons.get([reference, candidate]);
  const runs = comparison.runs.map((run) => ({ ...run, name: "p < 0.001 <b>" }));
  expect(comparisonMarkdown({ ...comparison, runs }, page.url())).toContain("p < 0.001 &#60;b&#62;");
});

slowBrowserTest("The comparison is accessible, with and without an open sample", async (visitor) => {
  filling ??= fill(visitor.client);
  const { reference, candidate } = await filling;
  const address = `/compare?runs=${reference},${candidate}`;
  const page = await visitor.visit(address, { reducedMotion: "reduce" });
  for (const open of ["", "&direction=better&open=hall%2F1"]) {
    await follow(page, new URL(address + open, page.url()).href);
    await page.getByRole("cell", { name: "reference" }).first().waitFor();
    if (open !== "") await page.getByText("Recorded and predicted, identical").waitFor();
    await expectAccessible(page);
  }
});
