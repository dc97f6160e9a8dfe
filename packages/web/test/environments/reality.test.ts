import { afterAll, expect } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expectEventually } from "../../../server/test/support/eventually.ts";
import { dashboardTests } from "../support/dashboard-tests.ts";
import { expectAccessible, wide } from "../support/expect-accessible.ts";
import { fillReality } from "../support/fill-reality.ts";

const folder = mkdtempSync(join(tmpdir(), "presage-real-"));
const file = join(folder, "real.yaml");
// Nothing listens on this port.
writeFileSync(
  file,
  "environments: { lab: { protocol: http, url: 'http://127.0.0.1:9', environment: sandbox } }",
);
const { slowBrowserTest, dashboardTest, slowDashboardTest } = dashboardTests(() => ({
  environment: { PRESAGE_REAL_ENVIRONMENTS: file },
}));
afterAll(() => rmSync(folder, { recursive: true }));

dashboardTest("From an alarm on the overview to where an episode leaves reality", async (visitor) => {
  const { visit, client } = visitor;
  await fillReality(client);
  await client.evaluate({
    ...{ evaluators: [{ evaluator: "exact-match" }], evaluated_model_input: "You push." },
    ...{ evaluated_model_output: "It opens.", evaluated_model_gold_answer: "It opens." },
  });
  const hall = { name: "hall", environment: "hall" };
  const stop = [{ output_contains: "won", outcome: "success" as const }];
  await client.environments.create({ name: "hall", stop, real: { name: "lab", false_success_limit: 0.1 } });
  const acted = (policy: string, tasks: number) =>
    Array.from({ length: tasks }, (_, task) => ({
      ...{ task_id: `${policy} ${task}`, policy, simulated: true, real: policy === "good" },
    }));
  await client.realityChecks.create({ ...hall, pairs: [...acted("good", 900), ...acted("bad", 60)] });
  await client.environments.create({ name: "yard", stop });
  const ranked = [1, 2, 3].flatMap((step) =>
    Array.from({ length: 7 }, (_, task) => ({
      ...{ task_id: `${task}`, policy: `step-${step}`, simulated: task < 2 * step, real: task < step },
    })),
  );
  await client.realityChecks.create({ ...hall, environment: "yard", pairs: ranked });
  // The number of later checks does not matter.
  const pairs = [{ task_id: "t", simulated: true, real: true }];
  for (let index = 0; index < 100; index++) await client.realityChecks.create({ name: `${index}`, pairs });
  const list = await visit("/environments", { viewport: wide });
  const { false_success_rate: rate } = await client.realityChecks.ofEnvironment("rooms");
  const share = `${(100 * (rate.value ?? 0)).toFixed(1)} %`;
  await list.getByRole("columnheader", { name: "False success" }).waitFor();
  await list.getByRole("row", { name: "rooms" }).getByText(share, { exact: true }).waitFor();
  await list.getByRole("row", { name: "yard" }).getByText("of 12 checked").waitFor();
  await list.goto(new URL("/environments/yard?tab=reality", list.url()).href);
  await list
    .getByText(/Kendall’s τ of their order in simulation and in reality: 1\S*, of 3 policies\./)
    .waitFor();
  const page = await visit("/environments/hall?tab=reality", { viewport: wide });
  await page
    .getByText("Stop training bad in it: more than 10.0 % of this policy’s successes are false.")
    .waitFor();
  await page.getByRole("link", { name: "Alarm of bad: too many false successes" }).waitFor();
  await page.goto(new URL("/", page.url()).href);
  await page.getByText("Alarm of bad: too many of its successes fail in reality").waitFor();
  await page.getByTitle(/^Of \d+ episodes in \d+ tasks/).waitFor();
  await page.getByRole("link", { name: "Environment rooms" }).first().click();
  await page.getByText("Stop training in it: more than 10.0 % of its successes are false.").waitFor();
  await page.getByRole("link", { name: "Alarm: too many false successes" }).waitFor();
  const exploits = page.getByRole("region", { name: "Exploits" });
  await exploits.getByRole("rowheader", { name: "look" }).waitFor();
  await page.getByRole("slider", { name: "False success by policy, by policy" }).waitFor();

  await page.getByText("reward 1, really 0; differs from step 2 on").first().waitFor();
  await page.getByRole("list", { name: "Episodes of the check" }).getByRole("link").first().click();
  await page.getByRole("heading", { name: "Step 2", exact: true }).waitFor();
  await page.getByText("first divergence", { exact: true }).waitFor();
  await page.getByRole("link", { name: /^2 .*, first divergence from reality$/ }).waitFor();
  await page.keyboard.press("j");
  const worlds = page.getByRole("region", { name: "Both worlds" });
  await worlds.getByText("It is locked.").waitFor();
  await worlds.getByText("The chest is now open.").waitFor();

  await page.route(/episodes\/[^/]+\/reality$/, async (route) => {
    const found = await (await route.fetch()).json();
    await route.fulfill({ json: { ...found, first_observation: "A dark room." } });
  });
  await page.reload();
  await page.getByText("The first observations differ").click();
  await page.getByText("A dark room.").waitFor();
});

slowDashboardTest("Checks are begun, their trouble is told, and they are ended", async (visitor) => {
  const { visit, client } = visitor;
  await client.environments.create({
    name: "house",
    stop: [{ output_contains: "{goal}", outcome: "success" }],
  });
  await client.environments.addTasks("house", [{ initial_state: "A room.", prompt: "Look.", goal: "room" }]);
  const page = await visit("/environments/house?tab=reality", { viewport: wide });
  await page.getByText("No episode has been checked.").waitFor();
  expect(await page.getByRole("button", { name: "Check against reality" }).count()).toBe(0);

  await page.getByRole("button", { name: "Revise" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Real environment", { exact: true }).click();
  await dialog.getByLabel("Name").selectOption("lab");
  await dialog.getByLabel("False success limit, %").fill("100");
  await dialog.getByText("A percentage above 0 and below 100.").waitFor();
  await dialog.getByLabel("False success limit, %").fill("7");
  await dialog.getByRole("button", { name: "Save as revision 2" }).click();
  await dialog.waitFor({ state: "detached" });
  expect(await client.environments.get("house")).toMatchObject({
    config: { real: { name: "lab", false_success_limit: 0.07, on_alarm: "warn" } },
  });

  for (let index = 0; index < 20; index++) {
    const { episode_id } = await client.episodes.start({ environment: "house", index: 0 });
    await client.episodes.step(episode_id, "look around");
  }
  await page.getByRole("button", { name: "Check against reality" }).click();
  await page.getByText(/^20 episodes in a row could not be replayed/).waitFor({ timeout: 60_000 });
  await page.getByRole("button", { name: "Resume" }).waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByText("cancelled", { exact: true }).waitFor();

  await client.environments.revise("house", { real: { name: "lab", share: 1, false_success_limit: 0.07 } });
  const known = { name: "known", environment: "house" };
  await client.realityChecks.create({ ...known, pairs: [{ task_id: "look", simulated: true, real: true }] });
  for (let index = 0; index < 20; index++) {
    const { episode_id } = await client.episodes.start({ environment: "house", index: 0 });
    await client.episodes.step(episode_id, "look around");
  }
  const checks = () => client.realityChecks.list({ environment: "house" });
  await expectEventually(
    async () => (await checks()).find(({ source }) => source === "continuous")?.status,
    "paused",
  );
  await page.reload();
  await page
    .getByText("What ends now is not checked: the continuous check is paused.")
    .waitFor({ timeout: 60_000 });
});

slowBrowserTest(
  "The Reality tab says whether to stop in one screen, wide, and fits a phone",
  async (visitor) => {
    const { visit, client } = visitor;
    await fillReality(client);
    const page = await visit("/environments/rooms?tab=reality", { viewport: wide, reducedMotion: "reduce" });
    const checks = page.getByRole("list", { name: "Reality checks" });
    await checks.waitFor();
    expect((await checks.boundingBox())?.y).toBeLessThan(wide.height);
    await expectAccessible(page);
  },
);
