import { expect } from "bun:test";
import { eventually } from "../../../server/test/support/eventually.ts";
import { dashboardTests } from "../support/dashboard-tests.ts";
import { sidewaysOverflow } from "../support/scrolling.ts";

const { browserTest } = dashboardTests();
const megabyte = 1_000_000;

const attack = `<img src=x onerror="window.attacked=1"><script>window.attacked=1</script><svg onload=window.attacked=1>`;
const outputs = {
  markup: `${attack} <a href="javascript:window.attacked=1">click me</a> [click](javascript:window.attacked=1)`,
  terminal: "\u001b[31mred\u001b[0m \u001b]0;title\u0007 end of colours",
  turned: "invoice\u202egnp.exe end of turning",
  invisible: "pass\u200bword\u2060\ufeff end of nothing",
  broken: '{"rooms": ["hall", "kitchen"], "open": tru',
  long: `${"long ".repeat(megabyte / 5)}end of the line ${attack}`,
};

browserTest("Hostile model outputs are harmless and readable", async ({ visit, client }) => {
  const entries = Object.entries(outputs);
  const imported = await client.results.importBatch(
    entries.map(([, output]) => ({
      evaluator_id: attack.slice(0, 200),
      profile_name: attack.slice(0, 200),
      pass: false,
      score_raw: 0,
      explanation: output.slice(0, 10_000),
      evaluated_model_input: output,
      evaluated_model_output: output,
      evaluated_model_gold_answer: `${output} or not`,
      app: attack.slice(0, 50),
      tags: { [attack.slice(0, 100)]: output.slice(0, 100) },
      dataset_id: attack.slice(0, 100),
      evaluation_run_id: "\u202eturned",
    })),
  );
  const ids = Object.fromEntries(entries.map(([name], index) => [name, imported[index]?.id]));

  const page = await visit("/evaluations?view=verdicts");
  const drawer = page.getByRole("dialog");
  const open = async (name: keyof typeof outputs) => {
    await page.getByRole("link", { name: `Result ${ids[name]}:` }).click();
    await page.getByRole("dialog", { name: `Result ${ids[name]}` }).waitFor();
    await drawer.getByRole("tab", { name: "Output", exact: true }).click();
    return drawer.getByRole("tabpanel", { name: "Output", exact: true });
  };

  await (await open("markup")).getByText(outputs.markup, { exact: true }).waitFor();
  expect(await drawer.getByRole("link", { name: "click me" }).count()).toBe(0);
  const terminal = await (await open("terminal")).textContent();
  expect(terminal).toContain("ESC[31m");
  expect(terminal).toContain("BEL");
  expect(terminal).toContain("end of colours");
  expect(await (await open("turned")).textContent()).toMatch(/invoice\s*RLO\s*gnp\.exe end of turning/);
  expect(await (await open("invisible")).textContent()).toMatch(
    /pass\s*ZWSP\s*word\s*WJ BOM\s* end of nothing/,
  );
  await (await open("broken")).getByText(outputs.broken, { exact: true }).waitFor();

  const long = await open("long");
  await long.getByText("long long").first().waitFor();
  await long.getByRole("button", { name: /^Show all/ }).click();
  await long.getByRole("region", { name: "Output" }).press("End");
  await long.getByText("end of the line").waitFor();
  // Only the visible part of the text is rendered.
  expect(await page.evaluate(() => document.body.textContent.length)).toBeLessThan(megabyte / 2);

  await page.keyboard.press("Escape");
  await drawer.waitFor({ state: "hidden" });
  expect(await page.evaluate(() => "attacked" in window)).toBe(false);
  await page.getByRole("link", { name: "Overview" }).click();
  await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
});

browserTest("Hostile names are harmless and fit into narrow pages", async ({ visit, client }) => {
  const name = `${attack.slice(0, 60)}\u202e${"W".repeat(50)}`;
  const { public_id } = await client.profiles.create({
    evaluator_family: "contains",
    name,
    description: name,
    config: { substrings: [name], mode: "any" },
  });
  const { error_taxonomy_id } = await client.errorTaxonomies.create({
    error_taxonomy_name: name,
    error_taxonomy_description: name,
    body: { [name]: [name] },
    labels: ["W".repeat(50)],
  });
  await client.apiKeys.create({ name });
  await client.evaluate({
    evaluators: [{ evaluator: "contains", profile_name: name }],
    evaluated_model_output: name,
    app: name,
  });

  const page = await visit("/api-keys", { viewport: { width: 390, height: 844 } });
  for (const path of [
    "/evaluations?view=verdicts",
    "/evaluators",
    `/evaluators/profiles/${public_id}`,
    "/error-taxonomies",
    `/error-taxonomies/${error_taxonomy_id}`,
    "/api-keys",
  ]) {
    await page.goto(new URL(path, page.url()).href);
    await page.getByRole("main").getByText("<img src=x onerror=").filter({ visible: true }).first().waitFor();
    const overflow = await eventually(
      () => sidewaysOverflow(page),
      (pixels) => pixels === 0,
    );
    expect([path, overflow]).toEqual([path, 0]);
    expect(await page.evaluate(() => "attacked" in window)).toBe(false);
  }
});
