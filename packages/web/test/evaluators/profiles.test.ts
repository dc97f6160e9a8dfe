import { expect } from "bun:test";
import { dashboardTests } from "../support/dashboard-tests.ts";
import { finishRun, uploadHousehold } from "../support/household.ts";
import type { Page } from "../support/page.ts";

const { dashboardTest, slowDashboardTest } = dashboardTests();

async function newProfile(page: Page, family: string): Promise<void> {
  await page.getByRole("button", { name: "New profile" }).click();
  await page.getByRole("menuitem", { name: family }).click();
}

dashboardTest("A profile is created, revised, compared, tried and archived", async ({ visit, client }) => {
  const page = await visit("/evaluators");
  await newProfile(page, "rouge-l");
  const form = page.getByRole("dialog", { name: "New profile of rouge-l" });
  await form.getByRole("textbox", { name: "Name" }).fill("near enough");
  await form.getByRole("textbox", { name: "Threshold" }).fill("0.9");
  await form.getByRole("button", { name: "Create profile" }).click();

  await page.getByRole("heading", { name: "near enough", level: 1 }).waitFor();
  await page.getByRole("button", { name: "Revise" }).click();
  const revising = page.getByRole("dialog");
  await revising.getByText("No changes yet.").waitFor();
  expect(await revising.getByRole("button", { name: "Save as revision 2" }).isDisabled()).toBe(true);
  await revising.getByRole("textbox", { name: "Threshold" }).fill("0.5");
  await revising.getByRole("button", { name: "Save as revision 2" }).click();
  await revising.waitFor({ state: "hidden" });
  const [profile] = await client.profiles.list({ name: "near enough", get_last_revision: true });
  expect(profile).toMatchObject({ revision: 2, config: { threshold: 0.5 } });

  await page.getByRole("deletion").getByText("0.9").waitFor();
  await page.getByRole("insertion").getByText("0.5").waitFor();
  await page.getByRole("combobox", { name: "From revision" }).selectOption("2 · newest");
  await page.getByText("Revision 2 and revision 2 are the same.").waitFor();

  await page.getByRole("textbox", { name: "Output" }).fill("the door is open");
  await page.getByRole("textbox", { name: "Gold answer" }).fill("the door is wide open");
  await page.getByRole("button", { name: "Evaluate" }).click();
  const result = page.getByRole("region", { name: "Result", exact: true });
  await result.getByText("Pass", { exact: true }).waitFor();
  expect(await client.results.search({ app: "default" })).toEqual([]);

  await page.getByRole("button", { name: "Archive" }).click();
  const question = page.getByRole("alertdialog");
  await question.getByRole("button", { name: "Archive profile" }).click();
  // The dialog closes once the server has answered; until then it hides the rest of the page.
  await question.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Revise" }).waitFor({ state: "detached" });
  const archived = await client.profiles.list({ name: "near enough", include_archived: true });
  expect(archived.every(({ archived_at }) => archived_at !== null)).toBe(true);
  await page.goto(new URL("/evaluators", page.url()).href);
  await page.getByRole("link", { name: "default" }).first().waitFor();
  expect(await page.getByRole("link", { name: "near enough" }).count()).toBe(0);
  await page.getByRole("switch", { name: "Archived profiles" }).click();
  await page.getByRole("link", { name: "near enough" }).waitFor();
});

dashboardTest("A rejected config is reported at its field, and the input stays", async (visitor) => {
  const { visit, client, expectErrors } = visitor;
  await client.profiles.create({ evaluator_family: "rouge-l", name: "taken", config: {} });
  const page = await visit("/evaluators");
  await newProfile(page, "rouge-l");
  const form = page.getByRole("dialog");
  const name = form.getByRole("textbox", { name: "Name" });
  const threshold = form.getByRole("textbox", { name: "Threshold" });
  await name.fill("taken");
  await threshold.fill("7");
  expectErrors(/status of (409|422)/);
  await form.getByRole("button", { name: "Create profile" }).click();
  await form.getByRole("alert").getByText("less than or equal to 1").waitFor();
  expect(await threshold.getAttribute("aria-invalid")).toBe("true");

  await threshold.fill("0.7");
  await form.getByRole("button", { name: "Create profile" }).click();
  await form.getByRole("alert").filter({ hasText: "name" }).waitFor();
  expect([await name.inputValue(), await threshold.inputValue()]).toEqual(["taken", "0.7"]);

  // Closing the form or reloading the page loses nothing.
  await page.reload();
  await newProfile(page, "rouge-l");
  expect([await name.inputValue(), await threshold.inputValue()]).toEqual(["taken", "0.7"]);
});

slowDashboardTest(
  "A profile of the taxonomy judge chooses from the taxonomies and labels there are",
  async (visitor) => {
    const { visit, client } = visitor;
    await client.errorTaxonomies.create({
      error_taxonomy_name: "our errors",
      body: ["gone"],
      labels: ["candidate"],
    });
    const page = await visit("/evaluators");
    await newProfile(page, "error-taxonomy");
    const form = page.getByRole("dialog");
    await form.getByRole("textbox", { name: "Name", exact: true }).fill("finds ours");
    await form.getByRole("combobox", { name: "Error taxonomy name" }).selectOption("our errors");
    await form.getByRole("combobox", { name: "Label" }).selectOption("candidate");
    await form.getByRole("button", { name: "Create profile" }).click();
    await page.getByRole("heading", { name: "finds ours", level: 1 }).waitFor();
    const [profile] = await client.profiles.list({ name: "finds ours" });
    expect(profile?.config).toMatchObject({ error_taxonomy_name: "our errors", label: "candidate" });
  },
);

slowDashboardTest(
  "A profile's disagreements with people open the result, whose address can be shared",
  async (visitor) => {
    const { visit, client } = visitor;
    const { public_id } = await client.profiles.create({
      evaluator_family: "exact-match",
      name: "names a door",
      config: {},
    });
    const evaluate = async (output: string) => {
      const [item] = await client.evaluate({
        evaluators: [{ evaluator: "exact-match", profile_name: "names a door" }],
        evaluated_model_output: output,
        evaluated_model_gold_answer: "The door opens.",
      });
      return item?.evaluation_result?.id ?? "";
    };
    const gate = await evaluate("The gate opens.");
    const confirmed = await evaluate("The door opens.");
    await client.evaluate({
      evaluators: [{ evaluator: "exact-match", profile_name: "names a door" }],
      evaluated_model_output: "Without a gold answer.",
    });
    await client.results.correct(gate, { pass: true, comment: "A gate is a door." });
    await client.results.correct(confirmed, { pass: true });
    const page = await visit(`/evaluators/profiles/${public_id}`);
    const row = page.getByRole("row").filter({ hasText: "A gate is a door." });
    await row.getByText("The gate opens.").waitFor();
    expect(await page.getByText("The door opens.").count()).toBe(0);
    await row.getByRole("link", { name: `Result ${gate}` }).press("Enter");
    await page
      .getByRole("dialog", { name: `Result ${gate}` })
      .getByText("A person marked this")
      .waitFor();
    const { pathname, search } = new URL(page.url());
    const elsewhere = await visit(pathname + search);
    await elsewhere.getByRole("dialog", { name: `Result ${gate}` }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    // All results are from one day, which is no line.
    await page.getByRole("row", { name: "Revision 1" }).getByText("1 without a verdict").waitFor();
    expect(await page.getByRole("figure", { name: /^Pass rate by day/ }).count()).toBe(0);
  },
);

slowDashboardTest("Used evaluators alone are listed, by purpose, without dates", async (visitor) => {
  const { visit, client } = visitor;
  for (const output of ["yes", "yes", "yes", "no"]) {
    await client.evaluate({
      evaluators: [{ evaluator: "numeric" }],
      evaluated_model_output: output === "yes" ? "7" : "8",
      evaluated_model_gold_answer: "7",
    });
  }
  const page = await visit("/evaluators?period=24h");
  const rows = page.getByRole("table", { name: "Evaluators and profiles" }).getByRole("row");
  await rows.nth(2).getByText("numeric", { exact: true }).waitFor();
  expect(await rows.nth(1).textContent()).toBe("Compares with gold");
  expect(await rows.nth(2).textContent()).toMatch(/^numericdefault.+4/);
  expect(await page.getByText(/numeric-\d{4}/).count()).toBe(0);
  await page.getByRole("button", { name: "Evaluator and profile", exact: true }).click();
  await page.waitForURL(/sort=profile/);
  const { pathname, search } = new URL(page.url());
  const elsewhere = await visit(pathname + search);
  await elsewhere.getByRole("columnheader", { name: "Evaluator and profile", exact: true }).waitFor();
  expect(
    await elsewhere
      .getByRole("columnheader", { name: "Evaluator and profile", exact: true })
      .getAttribute("aria-sort"),
  ).toBe("ascending");
});

dashboardTest("A revision's evaluations are those of runs as well", async ({ visit, client }) => {
  const { public_id } = await client.profiles.create({
    evaluator_family: "exact-match",
    name: "of runs",
    config: {},
  });
  const { id: dataset_id } = await uploadHousehold(client, "judged");
  const evaluators = [{ evaluator: "exact-match", profile_name: "of runs" }];
  await finishRun(client, { dataset_id, target: { baseline: "no-change" }, evaluators });
  await client.evaluate({
    evaluators,
    evaluated_model_output: "A door.",
    evaluated_model_gold_answer: "A door.",
  });
  await client.profiles.revise(public_id, { config: {}, description: "Used by nobody." });
  const page = await visit(`/evaluators/profiles/${public_id}`);
  const rows = page.getByRole("row");
  await rows.filter({ hasText: "6 in runs" }).waitFor();
  expect(await rows.nth(2).textContent()).toMatch(/^Revision 1just now76 in runs100\s%/);
  expect(await rows.nth(1).textContent()).toMatch(/^Revision 2just now0–/);
});
