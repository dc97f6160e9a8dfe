import { expect } from "bun:test";
import type { Presage } from "@presage/sdk";
import { eventually, expectEventually } from "../../../server/test/support/eventually.ts";
import { dashboardTests } from "../support/dashboard-tests.ts";
import { expectAccessible, wide } from "../support/expect-accessible.ts";

const { slowBrowserTest, dashboardTest, slowDashboardTest } = dashboardTests(() => ({
  environment: { PRESAGE_CAPTURE: "all" },
}));

const kitchen = { environment_state: "A kitchen with a fridge. The fridge door is closed." };

/** Predicts an action in the kitchen, and returns the request's id. */
async function predict(client: Presage, action: string): Promise<string> {
  let requestId = "";
  const interaction = { state: "You are in the kitchen.", action };
  await client.predict(
    { context: kitchen, interaction, params: { temperature: 0 } },
    {
      onResponse({ headers }) {
        requestId = headers.get("x-request-id") ?? "";
      },
    },
  );
  return requestId;
}

dashboardTest("An empty log says how predictions come into it", async ({ visit }) => {
  const page = await visit("/predictions");
  await page.getByText("This server stores all live traffic, and what runs predict.").waitFor();
  await page.getByRole("link", { name: "Open the playground" }).waitFor();
});

slowBrowserTest(
  "What the agent saw: a request is found, read as it was sent, asked again and kept as a sample",
  async (visitor) => {
    const { client, visit } = visitor;
    let requestId = "";
    for (const action of ["open fridge", "close fridge", "look around"]) {
      requestId = await predict(client, action);
    }
    await eventually(
      () => client.storedPredictions.count(),
      ({ count }) => count === 3,
      20_000,
    );

    const page = await visit("/");
    await page.getByRole("link", { name: "Log", exact: true }).click();
    await page.getByText("3 predictions", { exact: true }).waitFor();
    // The predicted texts are visible.
    await page.getByRole("row").filter({ hasText: "fridge" }).first().waitFor();
    await page.getByRole("row", { name: /^\d\d:\d\d:\d\d.*look around/ }).waitFor();
    await page.getByRole("button", { name: "Jump to" }).press("Enter");
    await page.getByRole("button", { name: "To the oldest" }).press("Enter");
    await page.getByText("3 predictions, the oldest first").waitFor();
    await page.keyboard.press("Escape");
    // A closing popover returns the focus, which would close the next popover.
    await page.locator("button:focus", { hasText: "Jump to" }).waitFor();
    // The options are the existing values, with their counts.
    await page.getByRole("button", { name: "Filters" }).press("Enter");
    const chosen = page.getByLabel("Source").locator("option");
    expect(
      await eventually(
        () => chosen.allTextContents(),
        (texts) => texts.length === 2,
      ),
    ).toEqual(["Any source", "Live traffic · 3"]);
    await page.getByRole("textbox", { name: "Request id" }).fill(requestId);
    await page.keyboard.press("Enter");
    await page.getByText("1 prediction match", { exact: false }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("textbox", { name: "Request id" }).waitFor({ state: "hidden" });
    await page.getByRole("row").getByRole("link").first().click();
    const drawer = page.getByRole("dialog");
    await drawer.getByText("Action: look around").waitFor();
    await drawer.getByText("## ENVIRONMENT STATE").waitFor();
    await drawer.getByText(requestId).waitFor();

    // The link opens the same prediction in a fresh browser.
    const other = await visit(new URL(page.url()).pathname + new URL(page.url()).search, {
      viewport: wide,
      reducedMotion: "reduce",
    });
    await other.getByRole("dialog").getByText("Action: look around").waitFor();
    await expectAccessible(other);

    await drawer.getByRole("button", { name: "Add to dataset" }).click();
    const form = page.getByRole("dialog", { name: "Add to a dataset" });
    await form.getByRole("textbox", { name: "Its name" }).fill("found in traffic");
    await form.getByRole("textbox", { name: "Trajectory" }).fill("kitchen");
    await form.getByRole("textbox", { name: "Next state" }).fill("You see a closed fridge.");
    visitor.expectErrors(/status of 400/);
    await page.route(/\/revisions/, (route) => route.fulfill({ status: 400, json: { detail: "Not now" } }), {
      times: 1,
    });
    await form.getByRole("button", { name: "Add sample" }).click();
    await form.getByText("Not now").waitFor();
    // The dataset is deleted again, so that the same name can be used.
    await form.getByRole("button", { name: "Add sample" }).click();
    await form.getByText("Revision 1 has 1 sample.").waitFor();
    await form.getByRole("button", { name: "Close" }).last().click();
    const [dataset] = await client.datasets.list();
    const kept = await Array.fromAsync(client.datasets.iterateSamples(dataset?.id ?? ""));
    expect(kept).toMatchObject([
      {
        trajectory_id: "kitchen",
        context: kitchen,
        interaction: { action: "look around" },
        next_state: "You see a closed fridge.",
      },
    ]);

    await drawer.getByRole("button", { name: "Replay in the playground" }).click();
    await page.getByRole("heading", { name: "Playground", level: 1 }).waitFor();
    expect(await page.getByRole("textbox", { name: "Action", exact: true }).inputValue()).toBe("look around");
  },
);

slowBrowserTest(
  "Predictions are deleted by the filters, after their number is said",
  async ({ visit, client }) => {
    const page = await visit("/predictions?status=success&source=live", { reducedMotion: "reduce" });
    await page.getByText("3 predictions match").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    const dialog = page.getByRole("alertdialog");
    await dialog.getByText("3 predictions of live traffic match the filters.").waitFor();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await page.getByText("No stored prediction matches these filters").waitFor();
    expect(await client.storedPredictions.count()).toEqual({ count: 0, has_more: false });
  },
);

slowDashboardTest(
  "Stored predictions that could not be counted, or do not exist, cannot be deleted",
  async ({ visit, expectErrors }) => {
    expectErrors(/status of 400/);
    const page = await visit("/predictions?status=success", { reducedMotion: "reduce" });
    const dialog = page.getByRole("alertdialog");
    const isCount = /\/v1\/predictions\/count\?.*to=/;
    await page.route(isCount, (route) => route.fulfill({ status: 400, json: { error: { message: "no" } } }));
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await dialog.getByRole("alert").waitFor();
    expect(await dialog.getByRole("button", { name: "Delete" }).count()).toBe(0);
    await page.unroute(isCount);
    await dialog.getByRole("button", { name: "Try again" }).click();
    await dialog.getByText("No prediction of live traffic matches the filters.").waitFor();
    expect(await dialog.getByRole("button").allInnerTexts()).toEqual(["Close"]);
    await dialog.getByRole("button", { name: "Close" }).click();
    await dialog.waitFor({ state: "detached" });
  },
);

slowDashboardTest(
  "Predictions that could not be counted are said to be so",
  async ({ visit, expectErrors }) => {
    expectErrors(/Failed to load resource/);
    const page = await visit("/account");
    await page.route("**/v1/predictions/count*", (route) =>
      route.fulfill({ status: 500, json: { detail: "Broken." } }),
    );
    await page.goto(new URL("/predictions", page.url()).href);
    await page.getByText("These predictions could not be counted.").waitFor();
  },
);

slowDashboardTest(
  "A next page that fails is asked for once, and again when the user retries",
  async (visitor) => {
    visitor.expectErrors(/status of 400/);
    // An empty log has no next page.
    await predict(visitor.client, "look around");
    await expectEventually(async () => (await visitor.client.storedPredictions.count()).count > 0, true);
    const page = await visitor.visit("/");
    let first = 0;
    let asked = 0;
    let isBroken = true;
    await page.route(/\/v1\/predictions\?/, async (route) => {
      if (!route.request().url().includes("after=")) {
        first += 1;
        const response = await route.fetch();
        return await route.fulfill({ response, json: { ...(await response.json()), next: "next" } });
      }
      asked += 1;
      if (isBroken) return await route.fulfill({ status: 400, json: { detail: "Out of order" } });
      return await route.fulfill({ json: { data: [], next: null } });
    });
    await page.getByRole("link", { name: "Log", exact: true }).click();
    await page.getByRole("alert").getByText("Out of order").waitFor();
    await page.getByRole("button", { name: "Options of Predictions" }).press("Enter");
    await page.getByRole("menuitem", { name: /^Save the \d+ loaded rows? as CSV$/ }).waitFor();
    await page.keyboard.press("Escape");
    await page.evaluate(async () => {
      for (let frame = 0; frame < 30; frame++) await new Promise(requestAnimationFrame);
    });
    expect(asked).toBe(1);
    isBroken = false;
    const loaded = first;
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("alert").waitFor({ state: "detached" });
    await eventually(
      () => asked,
      (count) => count > 1,
    );
    // The loaded rows stay.
    expect(first).toBe(loaded);
  },
);

dashboardTest("What is later than the time jumped to is neither counted nor deleted", async (visitor) => {
  const { client, visit } = visitor;
  const find = async () => (await client.storedPredictions.list({ source: "live" })).data;
  const earlier = (await find()).length;
  await predict(client, "early");
  await eventually(find, ({ length }) => length === earlier + 1);
  await predict(client, "late");
  const [late] = await eventually(find, ({ length }) => length === earlier + 2);
  const page = await visit(`/predictions?source=live&until=${late?.created_at}`);
  await page.getByText(/^\d predictions? match/).waitFor();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  const dialog = page.getByRole("alertdialog");
  await dialog.getByText(`${earlier + 1} prediction`).waitFor();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.getByText("No stored prediction matches these filters").waitFor();
  expect((await find()).map(({ id }) => id)).toEqual([late?.id ?? ""]);
});
