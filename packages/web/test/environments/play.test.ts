import { afterAll, beforeAll, expect } from "bun:test";
import {
  completion,
  startUpstream,
  type TestUpstream,
} from "../../../server/test/support/upstream/upstream.ts";
import { dashboardTests } from "../support/dashboard-tests.ts";
import { expectAccessible, wide } from "../support/expect-accessible.ts";
import type { Page } from "../support/page.ts";

let upstream: TestUpstream;
beforeAll(() => {
  upstream = startUpstream();
});
afterAll(() => upstream.stop());

const { browserTest, dashboardTest, slowDashboardTest, slowBrowserTest } = dashboardTests(() => ({
  environment: { PRESAGE_UPSTREAM_URL: upstream.url, PRESAGE_UPSTREAM_RETRIES: "0" },
}));

const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
const goal = "The lantern is now activated.";
const task = "/environments/sandbox/play?split=train&index=0";

/** Lets the world repeat each action. */
function echo(): void {
  upstream.answer = ({ body }) =>
    Response.json(completion(`After ${body.messages.at(-1)?.content.split("Action: ").at(-1)}.`));
}

const inputOf = (page: Page) => page.getByRole("textbox", { name: "Your action" });

async function act(page: Page, action: string, answer: string): Promise<void> {
  await inputOf(page).fill(action);
  await inputOf(page).press("Enter");
  await page.getByRole("log").getByText(answer).first().waitFor();
}

const episodeOf = (page: Page) => new URL(page.url()).searchParams.get("episode") ?? "";

browserTest("On a phone a person plays a task to its end, and the next one follows", async (visitor) => {
  const { visit, client } = visitor;
  echo();
  const page = await visit(task, phone);
  await page.getByText("Turn on the lantern.").waitFor();
  await page.getByRole("log").getByText("This room is called the workshop.").waitFor();
  // No episode is started before the first action.
  expect(await client.episodes.list({ environment: "sandbox" })).toEqual([]);
  await inputOf(page).fill("look around");
  await page.getByRole("button", { name: "Send" }).tap();
  await page.getByRole("log").getByText("After look around.").waitFor();
  await page.getByText(/^Step 1 of 20$/).waitFor();
  const id = episodeOf(page);

  // The newest answer is visible, and the input stays in place.
  for (const action of ["one", "two", "three", "four", "five", "six"])
    await act(page, action, `After ${action}.`);
  const answer = await page.getByRole("log").getByText("After six.").boundingBox();
  const input = await page.getByRole("textbox", { name: "Your action" }).boundingBox();
  expect(answer?.y).toBeGreaterThan(0);
  expect(input?.y).toBeGreaterThan(answer?.y ?? Number.POSITIVE_INFINITY);
  expect(input?.y).toBeLessThan(phone.viewport.height);

  upstream.answer = () => Response.json(completion(goal));
  await act(page, "activate lantern", goal);
  await page.getByRole("status").getByText("after 8 steps, reward 1").waitFor();
  expect(await client.episodes.get(id)).toMatchObject({ outcome: "success", steps_taken: 8, reward: 1 });
  await page.getByText("observation contains the goal").waitFor();
  await page.getByRole("button", { name: "Next task", exact: true }).tap();
  await page.getByText("Open the chest.").waitFor();
  await inputOf(page).waitFor();
  expect(new URL(page.url()).search).toBe("?split=train&index=1");
});

slowDashboardTest("Everything can be done with the keyboard, and a reload goes on", async ({ visit }) => {
  echo();
  const page = await visit(task, { viewport: wide });
  await page.getByText("Turn on the lantern.").waitFor();
  // The input has the focus from the start.
  await page.locator("input:focus").waitFor();
  await page.keyboard.type("open door");
  await page.keyboard.press("Enter");
  await page.getByRole("log").getByText("After open door.").waitFor();
  await page.keyboard.press("ArrowUp");
  expect(await inputOf(page).inputValue()).toBe("open door");
  await page.keyboard.press("ArrowDown");
  expect(await inputOf(page).inputValue()).toBe("");
  // The text being typed comes back as well.
  await page.keyboard.type("half a tho");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowDown");
  expect(await inputOf(page).inputValue()).toBe("half a tho");
  await page.keyboard.press("Escape");

  await page.getByText(/^Step 1 of 20$/).waitFor();
  await page.reload();
  await page.getByRole("log").getByText("After open door.").waitFor();
  await page.locator("input:focus").waitFor();
  await page.keyboard.type("go");
  await page.keyboard.press("Enter");
  await page.getByRole("log").getByText("After go.").waitFor();

  // Escape leaves the input; after that, letters are shortcuts.
  await page.getByText(/^Step 2 of 20$/).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("r");
  await page.getByRole("log").getByText("After go.").waitFor({ state: "detached" });
  await page.getByText("not begun").waitFor();
  expect(episodeOf(page)).toBe("");
  await page.locator("input:focus").waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("n");
  await page.getByText("Open the chest.").waitFor();
});

dashboardTest(
  "A failed prediction is an error that can be sent again, never an observation",
  async (visitor) => {
    const { visit, client, expectErrors } = visitor;
    expectErrors(/status of 502/);
    echo();
    const page = await visit(task, { viewport: wide });
    await act(page, "one", "After one.");
    upstream.answer = () => new Response("no", { status: 500 });
    await inputOf(page).fill("two");
    await inputOf(page).press("Enter");
    const alert = page.getByRole("alert");
    await alert.getByText("The model gave no usable response").waitFor();
    await page.getByText("The episode stands where it was.").waitFor();
    expect(await client.episodes.get(episodeOf(page))).toMatchObject({ steps_taken: 1, failed_steps: 1 });

    echo();
    await alert.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("log").getByText("After two.").waitFor();
    await alert.waitFor({ state: "detached" });
    const { steps } = await client.episodes.get(episodeOf(page));
    expect(steps.map(({ action }) => action)).toEqual(["one", "two"]);

    // A failed action can be replaced by another.
    upstream.answer = () => new Response("no", { status: 500 });
    await inputOf(page).fill("three");
    await inputOf(page).press("Enter");
    await page.getByRole("button", { name: "Try another action" }).click();
    expect(await inputOf(page).inputValue()).toBe("three");
    echo();
    await act(page, "four", "After four.");
  },
);

dashboardTest("A step whose answer was lost is shown, and not taken again", async (visitor) => {
  const { visit, client, expectErrors } = visitor;
  expectErrors(/ERR_FAILED/);
  echo();
  const page = await visit(task, { viewport: wide });
  await act(page, "one", "After one.");
  await page.route("**/step", async (route) => {
    await route.fetch();
    await route.abort();
  });
  await act(page, "two", "After two.");
  await page.getByText(/^Step 2 of 20$/).waitFor();
  expect(await page.getByRole("log").getByText("After two.").count()).toBe(1);
  expect(await page.getByRole("alert").count()).toBe(0);
  await page.unroute("**/step");
  await act(page, "three", "After three.");
  const { steps } = await client.episodes.get(episodeOf(page));
  expect(steps.map(({ action }) => action)).toEqual(["one", "two", "three"]);
});

slowDashboardTest("Who goes to another task while one is being started stays there", async ({ visit }) => {
  echo();
  const page = await visit(task, { viewport: wide });
  await page.getByText("Turn on the lantern.").waitFor();
  const held = Promise.withResolvers<void>();
  await page.route("**/v1/episodes", async (route) => {
    await held.promise;
    await route.continue();
  });
  const asked = page.waitForRequest("**/v1/episodes");
  await inputOf(page).fill("one");
  await inputOf(page).press("Enter");
  await asked;
  await page.getByRole("button", { name: "Next task (N)" }).click();
  await page.getByText("Open the chest.").waitFor();
  const stepped = page.waitForResponse("**/step");
  held.resolve();
  await stepped;
  await act(page, "two", "After two.");
  await page.getByText("Open the chest.").waitFor();
  expect(new URL(page.url()).searchParams.get("index")).toBe("1");
});

slowDashboardTest(
  "An episode is played in its own environment, whatever the address says",
  async (visitor) => {
    const { visit, client } = visitor;
    await client.environments.create({ name: "kitchen" });
    await client.environments.addTasks("kitchen", [{ split: "train", initial_state: "A kitchen." }]);
    const { episode_id } = await client.episodes.start({ environment: "sandbox", split: "train", index: 0 });
    const page = await visit(`/environments/kitchen/play?episode=${episode_id}`, { viewport: wide });
    await page.waitForURL("**/environments/sandbox/play*");
    await page.getByText("Turn on the lantern.").waitFor();
  },
);

slowBrowserTest(
  "Before and after a step, playing is accessible, wide and narrow, light and dark",
  async ({ visit }) => {
    upstream.answer = () => Response.json(completion("This room is called the workshop. It is dark."));
    const page = await visit(task, { viewport: wide, reducedMotion: "reduce" });
    await page.getByText("Turn on the lantern.").waitFor();
    await act(page, "look around", "It is dark.");
    await page.getByText("Mark changes").click();
    await page.getByText("after the action").waitFor();
    await expectAccessible(page);
  },
);
