import { expect } from "bun:test";
import type { Locator } from "playwright-core";
import { openStore } from "../../../server/test/support/store/open-store.ts";
import { type StoredFields, storeResults } from "../../../server/test/support/store/store-results.ts";
import { dashboardTests } from "../support/dashboard-tests.ts";

const { dashboardTest, slowDashboardTest, slowBrowserTest } = dashboardTests(() => ({ hasFile: true }));

dashboardTest("A taxonomy is created, its label set, moved and removed", async ({ visit, client }) => {
  const labelsOf = async () => {
    const revisions = await client.errorTaxonomies.list({ name: "slips" });
    return Object.fromEntries(revisions.map(({ revision, labels }) => [revision, labels]));
  };
  const page = await visit("/error-taxonomies");
  await page.getByRole("button", { name: "New taxonomy" }).first().click();
  const form = page.getByRole("dialog", { name: "New taxonomy" });
  await form.getByRole("textbox", { name: "Name" }).fill("slips");
  await form
    .getByRole("textbox", { name: "Outline" })
    .fill("State\n  Forgets a change\n  Invents an object\nForm");
  await form.getByRole("region", { name: "Preview of the tree" }).getByText("Invents an object").waitFor();
  await form.getByRole("button", { name: "Create taxonomy" }).click();
  await page.getByRole("heading", { name: "slips", level: 1 }).waitFor();
  await page.getByRole("heading", { name: "3 kinds of error" }).waitFor();

  const label = page
    .getByRole("textbox", { name: "Label" })
    .or(page.getByRole("combobox", { name: "Label" }));
  await page.getByRole("button", { name: "Set label" }).click();
  await label.fill("production");
  await page.getByRole("dialog").getByRole("button", { name: "Set label" }).click();
  const remove = page.getByRole("button", { name: "Remove the label production" });
  await remove.waitFor();
  expect(await labelsOf()).toEqual({ 1: ["production"] });

  await page.getByRole("button", { name: "New revision" }).click();
  const revising = page.getByRole("dialog", { name: "New revision of slips" });
  await revising
    .getByRole("textbox", { name: "Outline" })
    .fill("State\n  Forgets a change\n  Wrong room\nForm");
  await revising.getByRole("button", { name: "Save as new revision" }).click();
  await page.getByRole("heading", { name: "What changed from 1 to 2" }).waitFor();
  await page.getByText("Wrong room").first().waitFor();
  await remove.waitFor({ state: "hidden" });

  await page.getByRole("button", { name: "Set label" }).click();
  await label.fill("production");
  await page.getByText("Revision 1 has “production” now.").waitFor();
  await page.getByRole("button", { name: "Move label" }).click();
  await remove.waitFor();
  expect(await labelsOf()).toEqual({ 1: [], 2: ["production"] });

  await remove.click();
  const question = page.getByRole("alertdialog");
  await question.getByRole("button", { name: "Remove label" }).click();
  await question.waitFor({ state: "detached" });
  await remove.waitFor({ state: "detached" });
  expect(await labelsOf()).toEqual({ 1: [], 2: [] });
});

slowDashboardTest("A built-in taxonomy cannot be changed, but can be copied", async ({ visit, client }) => {
  const page = await visit("/error-taxonomies");
  await page.getByRole("link", { name: "agent-errors" }).click();
  await page.getByRole("heading", { name: "agent-errors", level: 1 }).waitFor();
  expect(await page.getByRole("button", { name: "New revision" }).count()).toBe(0);
  expect(await page.getByRole("button", { name: "Set label" }).count()).toBe(0);
  await page.getByRole("button", { name: "Copy", exact: true }).click();
  const form = page.getByRole("dialog", { name: "Copy agent-errors" });
  await form.getByRole("textbox", { name: "Name" }).fill("our agent errors");
  await form.getByRole("button", { name: "Create taxonomy" }).click();
  await page.getByRole("heading", { name: "our agent errors", level: 1 }).waitFor();
  const [copy] = await client.errorTaxonomies.list({ name: "our agent errors" });
  const [original] = await client.errorTaxonomies.list({ name: "system:agent-errors" });
  expect(copy?.revision).toBe(1);
  expect<unknown>(copy?.body).toEqual(original?.body);
});

slowDashboardTest(
  "A template is a tree to start from, which one's own edits keep",
  async ({ visit, client }) => {
    const page = await visit("/error-taxonomies");
    await page.getByRole("button", { name: "New taxonomy" }).first().click();
    const form = page.getByRole("dialog", { name: "New taxonomy" });
    const template = form.getByRole("combobox", { name: "Start from" });
    await template.selectOption("Tool calls: JSON responses");
    await template.selectOption("Text world: state and effects");
    await form.getByRole("region", { name: "Preview of the tree" }).getByText("invented object").waitFor();
    await form.getByRole("textbox", { name: "Outline" }).press("Control+End");
    await form.getByRole("textbox", { name: "Outline" }).pressSequentially("!");
    expect(await template.isDisabled()).toBe(true);
    await form.getByRole("textbox", { name: "Name" }).fill("from a template");
    await form.getByRole("button", { name: "Create taxonomy" }).click();
    await page.getByRole("heading", { name: "from a template", level: 1 }).waitFor();
    const [made] = await client.errorTaxonomies.list({ name: "from a template" });
    expect(JSON.stringify(made?.body)).toContain("ignored precondition");
    expect(made?.error_taxonomy_description).toBe("What a model of a text world gets wrong in one step.");
  },
);

slowDashboardTest(
  "Beside the tree are the models that make an error, and examples that open",
  async (visitor) => {
    const { visit, client, databaseUrl } = visitor;
    const { id, error_taxonomy_id } = await client.errorTaxonomies.create({
      error_taxonomy_name: "with findings",
      body: { State: ["Gone", "Invented"] },
    });
    await using store = await openStore(databaseUrl);
    const found = (model: string, ...kinds: string[]): StoredFields => ({
      evaluatorId: "error-taxonomy-2026-11-21",
      evaluatorFamily: "error-taxonomy",
      metadata: { app: "findings", evaluatedModel: { name: model }, runId: `nightly-${model}` },
      outcome: {
        status: "success",
        pass: kinds.length === 0,
        score: Number(kinds.length === 0),
        extra: {
          error_taxonomy_revision_id: id,
          categories: kinds.map((kind) => ({
            path: ["State", kind],
            reason: `The lamp is ${kind.toLowerCase()}.`,
          })),
        },
      },
    });
    const results = await storeResults(store.database, store.owner.account_id, [
      found("small", "Gone"),
      found("small", "Gone", "Invented"),
      found("large"),
      found("large", "Gone"),
    ]);
    const page = await visit(`/error-taxonomies/${error_taxonomy_id}`);
    await page.getByRole("heading", { name: "State / Gone" }).waitFor();
    await page.getByText("2 of 2").waitFor();
    await page.getByText("1 of 2").waitFor();
    await page.getByRole("button", { name: "Invented" }).click();
    await page.getByRole("heading", { name: "State / Invented" }).waitFor();
    await page.getByRole("radio", { name: "By run" }).click();
    const run = page.getByRole("listitem").filter({ has: page.getByRole("link", { name: "nightly-small" }) });
    await run.getByText("1 of 2").waitFor();
    await run.locator("[tabindex]").focus();
    await page
      .getByRole("tooltip")
      .filter({ hasText: "Found in 1 of the newest 2 evaluations" })
      .waitFor({ state: "attached" });
    await page.getByRole("button", { name: "The lamp is invented." }).click();
    const drawer = page.getByRole("dialog", { name: `Result ${results[1]?.id}` });
    await drawer.waitFor();
    const { pathname, search } = new URL(page.url());
    const elsewhere = await visit(pathname + search);
    await elsewhere.getByRole("heading", { name: "State / Invented" }).waitFor();
    await elsewhere.getByRole("link", { name: "nightly-large" }).waitFor({ state: "attached" });
    await elsewhere.getByRole("dialog", { name: `Result ${results[1]?.id}` }).waitFor();
    await page.keyboard.press("Escape");
    await drawer.waitFor({ state: "hidden" });
  },
);

slowDashboardTest(
  "A revision without findings says what is missing, and which one has some",
  async (visitor) => {
    const { visit, client, databaseUrl, expectErrors } = visitor;
    const body = { State: ["Gone"] };
    const used = await client.errorTaxonomies.create({ error_taxonomy_name: "steps", body });
    const { error_taxonomy_id } = await client.errorTaxonomies.create({
      error_taxonomy_id: used.error_taxonomy_id,
      body: { State: ["Gone", "Invented"] },
    });
    await client.profiles.create({
      evaluator_family: "error-taxonomy",
      name: "our slips",
      config: { error_taxonomy_name: "steps", label: "production" },
    });
    await using store = await openStore(databaseUrl);
    await storeResults(store.database, store.owner.account_id, [
      {
        evaluatorId: "error-taxonomy-2026-11-21",
        evaluatorFamily: "error-taxonomy",
        metadata: { app: "steps" },
        outcome: {
          status: "success",
          pass: true,
          score: 1,
          extra: { error_taxonomy_revision_id: used.id, categories: [] },
        },
      },
    ]);
    const page = await visit(`/error-taxonomies/${error_taxonomy_id}`);
    await page.getByRole("heading", { name: "Not used yet" }).waitFor();
    await page.getByRole("heading", { name: /^A profile names the taxonomy.*done/ }).waitFor();
    await page.getByRole("heading", { name: "This revision has the profile’s label", exact: true }).waitFor();
    await page.getByRole("link", { name: "our slips" }).waitFor();
    await page.getByText("has findings of 1 evaluation.").waitFor();

    expectErrors(/Failed to load resource/);
    await page.route("**/v1/evaluator-profiles*", (route) => route.fulfill({ status: 422, json: {} }));
    await page.reload();
    const notice = page.getByRole("main").getByRole("alert");
    await notice.waitFor();
    await page.unroute("**/v1/evaluator-profiles*");
    await notice.getByRole("button", { name: "Try again" }).press("Enter");
    await page.getByRole("link", { name: "our slips" }).waitFor();
    await page.getByRole("link", { name: "Revision 1" }).press("Enter");
    await page.getByText("found in 1 evaluation with this revision").waitFor();
  },
);

slowBrowserTest("Names of taxonomies and their errors are readable on a phone", async ({ visit, client }) => {
  const name = "what our world model gets wrong in kitchens";
  const deep = "A thing is in two places at once";
  await client.errorTaxonomies.create({
    error_taxonomy_name: name,
    body: { State: { Objects: { Position: [deep, "A thing is nowhere"] } } },
  });
  const page = await visit("/error-taxonomies", { viewport: { width: 390, height: 844 } });
  const link = page.getByRole("link", { name });
  await link.waitFor();
  for (const row of await page.getByRole("rowheader").getByRole("link").all()) {
    expect(await readableWidth(row)).toBeGreaterThan(200);
  }
  await link.click();
  const leaf = page.getByText(deep);
  await leaf.waitFor();
  expect(await readableWidth(leaf)).toBeGreaterThan(170);
});

/** The width of the text's element on the screen; 0 if part of the text is cut off. */
async function readableWidth(text: Locator): Promise<number> {
  return await text.evaluate((element) => {
    const { left, right } = element.getBoundingClientRect();
    const isCut = element.scrollWidth > element.clientWidth && element.clientWidth > 0;
    return isCut ? 0 : Math.min(right, innerWidth) - left;
  });
}
