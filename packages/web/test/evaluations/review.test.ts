import { expect } from "bun:test";
import type { Presage } from "@presage/sdk";
import { eventually } from "../../../server/test/support/eventually.ts";
import { dashboardTests } from "../support/dashboard-tests.ts";
import type { Page } from "../support/page.ts";
import { sidewaysOverflow } from "../support/scrolling.ts";

const { browserTest, dashboardTest, slowBrowserTest, slowDashboardTest } = dashboardTests();

/** Makes verdicts of one profile on a run's samples, oldest first. No output equals the gold answer, so `exact-match` disagrees. */
async function evaluate(client: Presage, name: string, outputs: readonly string[]) {
  const profile = await client.profiles.create({
    evaluator_family: "contains",
    name,
    config: { substrings: ["door"] },
  });
  for (const [sample, output] of outputs.entries()) {
    await client.evaluate({
      evaluators: [{ evaluator: "contains", profile_name: name }, { evaluator: "exact-match" }],
      evaluation_run_id: `run of ${name}`,
      dataset_sample_id: sample,
      evaluated_model_input: "You push.",
      evaluated_model_output: output,
      evaluated_model_gold_answer: "The door opens slowly.",
    });
  }
  return profile.public_id;
}

const region = (page: Page) => page.getByRole("region", { name: "Result to review" });

const shownId = async (page: Page) => {
  const name = await region(page)
    .getByRole("link", { name: /^Result \d+$/ })
    .textContent();
  return name?.replace("Result ", "") ?? "";
};

/** Presses a verdict's key once there is a result that it can apply to. */
const press = async (page: Page, key: "p" | "f" | "s") => {
  await shownId(page);
  await page.keyboard.press(key);
};

browserTest("Results are reviewed with one key each, and a key takes the last one back", async (visitor) => {
  const { visit, client } = visitor;
  const id = await evaluate(client, "keys", ["The door opens.", "A door opens.", "The door is shut."]);
  const page = await visit(`/review?profile_id=${id}`);
  await page.getByText("0 labelled, 3 left").waitFor();
  await page.getByText("Nobody has labelled a verdict of contains yet.").waitFor();
  await page.getByText("95 more labels for ±10 points").waitFor();
  await region(page).getByText("1 of 2 evaluators passes it").waitFor();
  const first = await shownId(page);
  await press(page, "p");
  await page.getByText("1 labelled, 2 left").waitFor();
  const second = await shownId(page);
  expect(second).not.toBe(first);
  await press(page, "f");
  await page.getByText("2 labelled, 1 left").waitFor();
  const saved = await eventually(
    () => client.labels.list(second),
    ({ data }) => data.length > 0,
  );
  expect(saved).toMatchObject({ data: [{ label: "fail" }], correction: { pass: false } });
  expect(await client.labels.list(first)).toMatchObject({ data: [{ label: "pass" }], correction: null });
  await page.getByText(/contains agrees with people on 50\s%.* of 2 verdicts/).waitFor();

  await page.keyboard.press("u");
  await page.getByText("1 labelled, 2 left").waitFor();
  expect(await shownId(page)).toBe(second);
  await eventually(
    () => client.labels.list(second),
    ({ data, correction }) => data.length === 0 && correction === null,
  );
  await press(page, "s");
  await page.getByText("1 labelled, 1 skipped, 1 left").waitFor();
  await press(page, "p");
  await page.getByRole("heading", { name: "2 labelled" }).waitFor();
  await page.getByRole("button", { name: "Load more" }).click();
  // The skipped result appears again.
  await page.getByText("0 labelled, 1 left").waitFor();
  expect(await shownId(page)).toBe(second);
});

dashboardTest("Undo gives back what the person had said before, and nobody else's word", async (visitor) => {
  const { visit, client } = visitor;
  const id = await evaluate(client, "undone", ["The door opens.", "A door.", "No door."]);
  const page = await visit(`/review?profile_id=${id}`);
  const own = await shownId(page);
  // The label agrees with the verdict, so it corrects nothing.
  await client.labels.give(own, { label: "pass", score: 0.9 });
  const said = async (result: string) => (await client.labels.list(result)).data;
  await press(page, "f");
  await eventually(
    () => said(own),
    ([label]) => label?.label === "fail",
  );
  await page.keyboard.press("u");
  await eventually(
    () => said(own),
    ([label]) => label?.label === "pass" && label.score === 0.9,
  );

  await press(page, "s");
  await page.getByText("0 labelled, 1 skipped, 2 left").waitFor();
  const other = await shownId(page);
  await client.results.correct(other, { pass: false });
  for (const key of ["p", "f"] as const) {
    await press(page, key);
    await page.getByText("1 labelled, 1 skipped, 1 left").waitFor();
    await page.keyboard.press("u");
    await page.getByText("0 labelled, 1 skipped, 2 left").waitFor();
  }
  await press(page, "s");
  await page.getByText("0 labelled, 2 skipped, 1 left").waitFor();
  const last = await shownId(page);
  await press(page, "p");
  // This label is saved after all of the above.
  await eventually(
    () => said(last),
    ({ length }) => length === 1,
  );
  expect(await client.labels.list(other)).toMatchObject({ data: [], correction: { pass: false } });
});

slowDashboardTest(
  "A link opens the same result, and a verdict that cannot be saved comes back",
  async (visitor) => {
    const { visit, client, expectErrors } = visitor;
    const id = await evaluate(client, "links", ["The door opens.", "A door.", "No door."]);
    const page = await visit(`/review?profile_id=${id}`);
    await page.getByText("0 labelled, 3 left").waitFor();
    const first = await shownId(page);
    await press(page, "s");
    await page.getByText("1 skipped").waitFor();
    const second = await shownId(page);
    await page.waitForURL(({ searchParams }) => searchParams.get("result") === second);
    const { pathname, search } = new URL(page.url());
    const elsewhere = await visit(pathname + search);
    await region(elsewhere).getByText(`Result ${second}`).waitFor();
    expect(second).not.toBe(first);

    expectErrors(/Failed to load resource/);
    await page.route("**/labels", (route) => route.abort());
    await press(page, "f");
    await region(page).getByRole("alert").waitFor();
    await page.getByText("0 labelled, 1 skipped, 2 left").waitFor();
  },
);

dashboardTest("A drawn sample of a run is labelled, and only of outputs that differ", async (visitor) => {
  const { visit, client } = visitor;
  const { id: dataset_id } = await client.datasets.create({ name: "drawn" });
  const samples = ["fridge", "oven", "door"].map((thing) => ({
    ...{ trajectory_id: thing, step: 0 },
    interaction: { state: `The ${thing} is closed.`, action: `open ${thing}` },
    next_state: `The ${thing} is open.`,
  }));
  await client.datasets.upload(dataset_id, samples.map((sample) => JSON.stringify(sample)).join("\n"));
  const target = { predictions: "imported" } as const;
  const run = await client.runs.create({
    dataset_id,
    name: "drawn",
    target,
    evaluators: [{ evaluator: "exact-match" }],
  });
  const predictions = samples.map(({ next_state }, index) => ({
    index,
    prediction: index === 0 ? next_state : "It is.",
  }));
  await client.runs.uploadPredictions(run.id, predictions.map((line) => JSON.stringify(line)).join("\n"));
  await client.runs.waitUntilEnded(run.id);
  const page = await visit(`/runs/${run.id}`);
  await page.getByText("33.3 %").first().waitFor();
  await page.getByRole("button", { name: "Label 20 of these" }).click();
  await page.getByText("0 labelled, 2 left").waitFor();
  await region(page).getByText("Drawn at random").waitFor();
  await region(page)
    .getByText(/^open (oven|door)$/)
    .waitFor();
  await press(page, "f");
  await page.getByText("1 labelled, 1 left").waitFor();
  await page.getByText(/exact-match agrees with people on 100 % of 1 verdict/).waitFor();
  expect((await client.labels.agreement({ run: run.id })).weighted).toBe(true);
  await press(page, "s");
  await page.getByText("1 skipped, which will come again.").waitFor();
  await page.getByRole("button", { name: "Load more" }).click();
  await page.getByRole("link", { name: "Run drawn" }).waitFor();
  await press(page, "f");
  await page.getByRole("heading", { name: "This sample is labelled" }).waitFor();
  await page.getByRole("link", { name: "Back to the run" }).click();
  await page.getByText("exact-match says 33 %.").waitFor();
});

dashboardTest("A result that is not there is skipped", async ({ visit, client, expectErrors }) => {
  expectErrors(/status of 404/);
  const id = await evaluate(client, "gone", ["The door opens."]);
  const page = await visit(`/review?profile_id=${id}&result=999999`);
  await region(page).getByRole("alert").waitFor();
  expect(await region(page).getByRole("button", { name: "Pass" }).isDisabled()).toBe(true);
  await page.keyboard.press("s");
  await page.getByText("0 labelled, 1 skipped, 1 left").waitFor();
  await shownId(page);
});

slowBrowserTest("A key that is held decides on one result only", async ({ visit, client }) => {
  const id = await evaluate(client, "held", ["The door opens.", "A door.", "No door."]);
  const page = await visit(`/review?profile_id=${id}`);
  await page.getByText("0 labelled, 3 left").waitFor();
  await shownId(page);
  for (let times = 0; times < 8; times += 1) await page.keyboard.down("p");
  await page.keyboard.up("p");
  await page.getByText("1 labelled, 2 left").waitFor();
  await press(page, "s");
  await page.getByText("1 labelled, 1 skipped, 1 left").waitFor();
});

slowBrowserTest("On a phone the verdict is hidden, and the keys are in sight", async ({ visit, client }) => {
  const id = await evaluate(client, "phone", ["The door opens.", "A door."]);
  const page = await visit(`/review?profile_id=${id}`, { viewport: { width: 390, height: 844 } });
  await shownId(page);
  expect(await region(page).getByText("Pass", { exact: true }).count()).toBe(0);
  expect(await sidewaysOverflow(page)).toBe(0);
  for (const name of ["Undo", "Skip", "Fail", "Pass"]) {
    const box = await page.getByRole("button", { name }).boundingBox();
    expect(box?.height).toBeGreaterThanOrEqual(44);
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(844);
  }
  await page.getByRole("button", { name: "Fail" }).click();
  await page.getByText("1 labelled, 1 left").waitFor();
});

slowDashboardTest("There is nothing to press where there is nothing to review", async ({ visit, client }) => {
  const id = await evaluate(client, "single", ["The door opens."]);
  const page = await visit(`/review?profile_id=${id}`);
  const pass = region(page).getByRole("button", { name: "Pass" });
  await pass.waitFor();
  await press(page, "p");
  await page.getByText("1 labelled, 0 left").waitFor();
  // The last decision can still be undone.
  await region(page).getByRole("button", { name: "Undo" }).waitFor();
  await page.reload();
  await page.getByText("Nothing is disputed or uncertain").waitFor();
  expect(await pass.count()).toBe(0);
});
