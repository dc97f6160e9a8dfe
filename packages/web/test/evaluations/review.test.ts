import { expect } from "bun:test";
import type { Presage } from "@presage/sdk";
import { eventually } from "../../../server/test/support/eventually.ts";
import { dashboardTests } from "../support/dashboard-tests.ts";
import type { Page } from "../support/page.ts";
import { sidewaysOverflow } from "../support/scrolling.ts";

const { browserTest, dashboardTest } = dashboardTests();

/** Verdicts of one profile without a threshold, newest last. No output equals the gold answer. */
async function evaluate(client: Presage, name: string, outputs: readonly string[]) {
  const profile = await client.profiles.create({
    evaluator_family: "contains",
    name,
    config: { substrings: ["door"] },
  });
  for (const output of outputs) {
    await client.evaluate({
      evaluators: [{ evaluator: "contains", profile_name: name }],
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

/** Presses a key of the verdicts once there is a result that it can be about. */
const press = async (page: Page, key: "p" | "f" | "s") => {
  await shownId(page);
  await page.keyboard.press(key);
};

browserTest("Results are reviewed with one key each, and a key takes the last one back", async (visitor) => {
  const { visit, client } = visitor;
  const id = await evaluate(client, "keys", ["The door opens.", "The gate opens.", "The door is shut."]);
  const page = await visit(`/review?profile_id=${id}`);
  await page.getByText("0 reviewed now, 3 left here").waitFor();
  await region(page).getByText("No one has reviewed this profile yet.").waitFor();
  const first = await shownId(page);
  await press(page, "p");
  await page.getByText("1 reviewed now, 2 left here").waitFor();
  const second = await shownId(page);
  expect(second).not.toBe(first);
  await press(page, "f");
  await page.getByText("2 reviewed now, 1 left here").waitFor();
  const correctionOf = async (result: string) => (await client.results.get(result)).correction;
  const saved = await eventually(
    () => correctionOf(second),
    (correction) => correction !== null,
  );
  expect(saved).toMatchObject({ pass: false });
  expect(await correctionOf(first)).toMatchObject({ pass: true });
  await region(page).getByText("People agreed").waitFor();

  await page.keyboard.press("u");
  await page.getByText("1 reviewed now, 2 left here").waitFor();
  expect(await shownId(page)).toBe(second);
  await eventually(
    () => correctionOf(second),
    (correction) => correction === null,
  );
  await press(page, "s");
  await page.getByText("1 reviewed now, 1 skipped, 1 left here").waitFor();
  await press(page, "p");
  await page.getByRole("heading", { name: "2 reviewed" }).waitFor();
  await page.getByRole("button", { name: "Load more" }).click();
  // The one that was skipped.
  await page.getByText("0 reviewed now, 1 left here").waitFor();
  expect(await shownId(page)).toBe(second);
});

dashboardTest(
  "A link opens the same result, and a verdict that cannot be saved comes back",
  async (visitor) => {
    const { visit, client, expectErrors } = visitor;
    const id = await evaluate(client, "links", ["The door opens.", "No.", "Nothing."]);
    const page = await visit(`/review?profile_id=${id}&order=random`);
    await page.getByText("0 reviewed now, 3 left here").waitFor();
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
    await page.route("**/correction", (route) => route.abort());
    await press(page, "f");
    await region(page).getByRole("alert").waitFor();
    await page.getByText("0 reviewed now, 1 skipped, 2 left here").waitFor();
  },
);

browserTest("A key that is held decides on one result only", async ({ visit, client }) => {
  const id = await evaluate(client, "held", ["The door opens.", "No.", "Nothing."]);
  const page = await visit(`/review?profile_id=${id}`);
  await page.getByText("0 reviewed now, 3 left here").waitFor();
  await shownId(page);
  for (let times = 0; times < 8; times += 1) await page.keyboard.down("p");
  await page.keyboard.up("p");
  await page.getByText("1 reviewed now, 2 left here").waitFor();
  await press(page, "s");
  await page.getByText("1 reviewed now, 1 skipped, 1 left here").waitFor();
});

browserTest("On a phone a hidden verdict is shown after the person's own", async ({ visit, client }) => {
  const id = await evaluate(client, "phone", ["The door opens.", "No."]);
  const page = await visit(`/review?profile_id=${id}&blind=true`, { viewport: { width: 390, height: 844 } });
  await region(page).getByText("is hidden until you have decided").waitFor();
  expect(await region(page).getByText("Pass", { exact: true }).count()).toBe(0);
  expect(await sidewaysOverflow(page)).toBe(0);
  for (const name of ["Undo", "Skip", "Fail", "Pass"]) {
    const box = await page.getByRole("button", { name }).boundingBox();
    expect(box?.height).toBeGreaterThanOrEqual(44);
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(844);
  }
  await page.getByRole("button", { name: "Fail" }).click();
  await page.getByText("you agreed with the evaluator in").waitFor();
});

dashboardTest("There is nothing to press where there is nothing to review", async ({ visit, client }) => {
  const id = await evaluate(client, "single", ["The door opens."]);
  const page = await visit(`/review?profile_id=${id}`);
  const pass = region(page).getByRole("button", { name: "Pass" });
  await press(page, "p");
  await page.getByText("1 reviewed now, 0 left here").waitFor();
  // What was decided last can still be taken back.
  await region(page).getByRole("button", { name: "Undo" }).waitFor();
  await page.reload();
  await page.getByText("All verdicts that match are reviewed").waitFor();
  expect(await pass.count()).toBe(0);
});
