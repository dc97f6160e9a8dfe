import { expect } from "bun:test";
import type { Presage } from "@presage/sdk";
import { dashboardTests } from "../support/dashboard-tests.ts";
import { expectAccessible, wide } from "../support/expect-accessible.ts";
import { follow } from "../support/share-page.ts";
import { watchShifts } from "../support/watch-shifts.ts";

const { dashboardTest, slowDashboardTest, slowBrowserTest } = dashboardTests();

/** Plays one episode that succeeds, one that is cut short and one that stays open. */
async function fill(client: Presage): Promise<{ name: string; won: string }> {
  const name = "house";
  const known = await client.environments.list();
  if (!known.some((one) => one.name === name)) {
    const stop = [{ output_contains: "{goal}", outcome: "success" as const }];
    await client.environments.create({ name, description: "A house", stop, max_steps: 2 });
    const tasks = await client.environments.listTasks("sandbox", "train", { atMost: 2 });
    await client.environments.addTasks(
      name,
      tasks.map(({ initial_state, prompt, goal }) => ({ initial_state, prompt, goal })),
    );
    for (const actions of [["look around", "activate lantern"], ["look around", "look around"], []]) {
      const { episode_id } = await client.episodes.start({
        environment: name,
        index: actions.length === 0 ? 1 : 0,
      });
      for (const action of actions) await client.episodes.step(episode_id, action);
    }
    await client.environments.revise(name, { max_steps: 5 });
  }
  const [won] = await client.episodes.list({ environment: name, outcome: "success" });
  return { name, won: won?.id ?? "" };
}

dashboardTest(
  "From the list to a step of an episode by keyboard, and back by its address",
  async (visitor) => {
    const { visit, client } = visitor;
    const { won } = await fill(client);
    const page = await visit("/environments", { viewport: wide });
    await page.getByRole("link", { name: "house" }).waitFor();
    await page.getByText("1 of 2").waitFor();
    await page.getByRole("row", { name: "house" }).getByText("not checked").waitFor();
    // Both episodes had the same task, so there is no interval, and no rate.
    expect(await page.getByText("50.0 %").count()).toBe(0);
    await page.getByRole("link", { name: "house" }).press("Enter");
    await page.getByRole("heading", { level: 1, name: "house" }).waitFor();
    await page.getByText("1 succeeded, 1 cut short").waitFor();

    // The filters are in the address.
    await page.getByLabel("Outcome").selectOption("success");
    await page.getByText("1 episode", { exact: true }).waitFor();
    expect(new URL(page.url()).search).toBe("?outcome=success");
    const row = page.getByRole("link", { name: "train 0" });
    await row.waitFor();
    await row.press("Enter");
    await page.getByRole("heading", { name: "Step 1", exact: true }).waitFor();
    await page.keyboard.press("j");
    await page.waitForURL(`**/episodes/${won}?step=2`);
    await page.getByText("activate lantern").first().waitFor();
    await page.getByText("Prompt as sent").click();
    await page.getByText("Action: activate lantern").waitFor();
  },
);

slowBrowserTest(
  "The pages of environments are accessible, wide and narrow, light and dark",
  async (visitor) => {
    const { visit, client } = visitor;
    const { won } = await fill(client);
    const pages = [
      ["/environments", "1 of 2"],
      ["/environments/house", "1 succeeded, "],
      ["/environments/house?tab=definition", "What changed"],
      [`/episodes/${won}?step=2`, "Prompt as sent"],
    ] as const;
    const page = await visit("/environments", { reducedMotion: "reduce" });
    for (const [address, shows] of pages) {
      await follow(page, new URL(address, page.url()).href);
      await page.getByText(shows).first().waitFor();
      await expectAccessible(page);
    }
  },
);

dashboardTest(
  "An environment is made, its fields are checked, and it gets tasks of a dataset",
  async (visitor) => {
    const { visit, client, expectErrors } = visitor;
    expectErrors(/status of 422/);
    const { id } = await client.datasets.create({ name: "recorded" });
    const sample = {
      trajectory_id: "t",
      step: 0,
      interaction: { state: "A dark room.", action: "a" },
      next_state: "n",
    };
    await client.datasets.upload(id, JSON.stringify(sample));
    const page = await visit("/environments", { viewport: wide });
    await page.getByRole("button", { name: "New environment" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox", { name: "Name" }).fill("Cellar");
    await dialog.getByText("1 to 63 lower-case letters").waitFor();
    await dialog.getByRole("textbox", { name: "Name" }).fill("cellar");
    await dialog.getByLabel("What rule 1 looks at").selectOption("output_matches");
    await dialog.getByLabel("Text of rule 1").fill("(");
    await dialog.getByRole("button", { name: "Create environment" }).click();
    await dialog.getByRole("alert").first().waitFor();
    await dialog.getByLabel("Text of rule 1").fill("light");
    await dialog.getByRole("button", { name: "Create environment" }).click();
    await page.getByRole("heading", { level: 1, name: "cellar" }).waitFor();

    await page.getByText("No tasks in train").waitFor();
    await page.getByRole("button", { name: "Add tasks" }).first().click();
    await dialog.getByRole("radio", { name: "A dataset" }).click();
    await dialog.getByText("1 task.").waitFor();
    await dialog.getByRole("button", { name: "Add", exact: true }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByText("A dark room.").waitFor();
    expect(await client.environments.get("cellar")).toMatchObject({
      tasks: { train: 1 },
      config: { stop: [{ output_matches: "light", outcome: "success" }] },
    });
    // The split of the tasks tab does not filter episodes.
    await page.getByRole("radio", { name: "validation 0" }).click();
    await page.getByRole("tab", { name: "Episodes" }).click();
    await page.getByText("No episodes yet").waitFor();
    // Pressing shows and hides what a finger cannot hover over.
    await page.getByRole("button", { name: "Reward" }).first().click();
    await page.getByRole("tooltip").getByText("Mean sum of rewards").waitFor();
    await page.getByRole("button", { name: "Reward" }).first().click();
    await page.getByRole("tooltip").waitFor({ state: "detached" });

    // The form for revising has the current values, and revisions can be compared.
    await page.getByRole("button", { name: "Revise" }).click();
    await dialog.getByRole("textbox", { name: "Max steps" }).fill("7");
    await dialog.getByRole("button", { name: "Save as revision 2" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("tab", { name: "Definition" }).click();
    await page.getByRole("heading", { name: "What changed" }).waitFor();
    await page.getByText("7 steps").waitFor();
  },
);

slowDashboardTest(
  "Episodes become a dataset by one click, and the palette finds environments",
  async (visitor) => {
    const { visit, client } = visitor;
    await fill(client);
    const page = await visit("/environments/house", { viewport: wide });
    await page.getByText("3 episodes", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Make a dataset" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Make the revision" }).click();
    await page.getByRole("heading", { level: 1, name: "house-rollouts" }).waitFor();
    await page.getByText("2 trajectories", { exact: true }).waitFor();

    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("play house");
    await page.getByRole("option", { name: "Play house" }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Play house" }).waitFor();
  },
);

slowBrowserTest("Nothing moves while the pages of environments load, wide and narrow", async (visitor) => {
  const { visit, client } = visitor;
  const { won } = await fill(client);
  const onlyNarrow = ["/environments", "/environments/house?tab=success"];
  for (const viewport of [wide, { width: 390, height: 844 }]) {
    const page = await visit("/playground", { viewport, reducedMotion: "no-preference" });
    await watchShifts(page);
    let waits = 0;
    await page.route("**/v1/**", async (route) => {
      waits += 1;
      await new Promise((resolve) => setTimeout(resolve, 100 * (waits % 3)));
      await route.continue();
    });
    for (const [address, shows] of [
      ["/environments", "1 of 2"],
      ["/environments/house", "train 1"],
      ["/environments/house?tab=success", "Of the ended episodes"],
      [`/episodes/${won}?step=2`, "stop"],
      [`/environments/house/play?episode=${won}`, "after 2 steps"],
    ] as const) {
      if (viewport === wide && onlyNarrow.includes(address)) continue;
      await page.goto(new URL(address, page.url()).href);
      await page.waitForLoadState("networkidle");
      await page.getByText(shows).first().waitFor({ state: "attached" });
      expect([address, await page.evaluate(() => Reflect.get(window, "shifts"))]).toEqual([address, []]);
    }
    await page.close();
  }
});
