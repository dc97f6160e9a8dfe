import { expect } from "bun:test";
import type { Locator } from "playwright-core";
import { eventually } from "../../../server/test/support/eventually.ts";
import { dashboardTests } from "../support/dashboard-tests.ts";
import { finishRun, uploadHousehold } from "../support/household.ts";

const { browserTest } = dashboardTests();
const phone = { viewport: { width: 390, height: 844 } };

/** Whether no part of a text, or of the elements around it, is cut off. */
async function isWhole(text: Locator): Promise<boolean> {
  return await text.evaluate((element) => {
    const holders: Element[] = [];
    for (let at: Element | null = element; at !== null && at.tagName !== "TR"; at = at.parentElement)
      holders.push(at);
    return holders.every(
      ({ scrollWidth, clientWidth, scrollHeight, clientHeight }) =>
        clientWidth === 0 || (scrollWidth <= clientWidth && scrollHeight <= clientHeight + 1),
    );
  });
}

browserTest("On a phone, names that begin alike can be told apart", async ({ visit, client }) => {
  const things = ["household-of-the-old-mill-kitchen-v1", "household-of-the-old-mill-kitchen-v2"];
  const dataset = await uploadHousehold(client, "alike", things);
  const names = ["house model, epoch 10", "house model, epoch 20"];
  for (const name of names)
    await finishRun(client, { name, dataset_id: dataset.id, target: { baseline: "no-change" } });

  const page = await visit("/runs", phone);
  for (const name of names)
    expect(await eventually(() => isWhole(page.getByRole("link", { name })), Boolean)).toBe(true);

  await page.goto(new URL(`/datasets/${dataset.id}`, page.url()).href);
  for (const thing of things)
    expect(
      await eventually(
        () => isWhole(page.getByRole("link", { name: thing }).getByText(thing.slice(-12), { exact: true })),
        Boolean,
      ),
    ).toBe(true);
});

browserTest("On a phone, all that a table says is within the screen", async ({ visit, client }) => {
  const dataset = await uploadHousehold(client, "narrow");
  await finishRun(client, { name: "narrow", dataset_id: dataset.id, target: { baseline: "no-change" } });
  await client.apiKeys.create({ name: "narrow" });
  for (const path of ["/runs", "/datasets", "/api-keys", "/deployments", "/evaluations", "/evaluators"]) {
    const page = await visit(path, phone);
    const cells = page.locator("main td");
    await eventually(
      () => cells.count(),
      (count) => count > 0,
    );
    const cut = await cells.evaluateAll((all) =>
      all.filter((cell) => cell.getBoundingClientRect().right > 390).map((cell) => cell.textContent),
    );
    expect([path, cut]).toEqual([path, []]);
  }
});

browserTest("On a phone, what to do about an error is below it", async ({ visit, expectErrors }) => {
  expectErrors(/Failed to load resource/);
  const page = await visit("/account", phone);
  await page.route("**/v1/api-keys*", (route) => route.fulfill({ status: 500, json: { detail: "Broken." } }));
  await page.goto(new URL("/api-keys", page.url()).href);
  const alert = page.getByRole("alert");
  const advice = await alert.getByText("Broken.").boundingBox();
  const button = await alert.getByRole("button", { name: "Try again" }).boundingBox();
  expect(button?.y).toBeGreaterThan((advice?.y ?? 0) + (advice?.height ?? 0));
});

browserTest("Keys are named where there is a keyboard", async ({ visit, client }) => {
  const dataset = await uploadHousehold(client, "keys");
  const page = await visit(`/datasets/${dataset.id}/trajectories/fridge`);
  await page.getByText("J and K go through them").waitFor();
  await page.setViewportSize(phone.viewport);
  await page.getByText("J and K go through them").waitFor({ state: "hidden" });
});

browserTest("A page that is exactly as wide as a tablet has one layout", async ({ visit }) => {
  const upright = await visit("/evaluators", { viewport: { width: 768, height: 1024 } });
  await upright.getByRole("columnheader", { name: "Uses" }).waitFor();

  const across = await visit("/runs/new", { viewport: { width: 1024, height: 768 } });
  const edgeOf = async (name: string) =>
    (await across.getByRole("heading", { name, exact: true }).boundingBox())?.x ?? 0;
  await across.getByRole("heading", { name: "Estimate" }).waitFor();
  expect(await edgeOf("Estimate")).toBe(await edgeOf("The run"));
});
