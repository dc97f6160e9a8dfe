import { expect } from "bun:test";
import { eventually } from "../../../server/test/support/eventually.ts";
import { makeUser, signInAddressOf } from "../../../server/test/support/sign-in/make-user.ts";
import { openStore } from "../../../server/test/support/store/open-store.ts";
import { dashboardTests } from "../support/dashboard-tests.ts";
import { finishRun, uploadHousehold } from "../support/household.ts";
import type { Page } from "../support/page.ts";
import type { Visitor } from "../support/run-with-visitor.ts";

const { slowBrowserTest, dashboardTest, slowDashboardTest } = dashboardTests(() => ({ hasFile: true }));

/** A viewer's page. */
async function visitAsViewer({ visit, presage, databaseUrl }: Visitor<Page>, email: string): Promise<Page> {
  await using store = await openStore(databaseUrl);
  const userId = await makeUser(store, "viewer", email);
  const page = await visit(await signInAddressOf(store, presage.url, userId), { isSignedIn: false });
  await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
  return page;
}

dashboardTest(
  "An owner changes a role and finds that in the audit log",
  async ({ visit, client, databaseUrl }) => {
    await using store = await openStore(databaseUrl);
    const userId = await makeUser(store, "viewer", "ada@example.org");
    await client.environments.create({ name: "named", max_steps: 2 });
    const page = await visit("/account/members");
    const row = page.getByRole("row", { name: "ada@example.org" });
    await row.getByRole("combobox", { name: "Role of viewer" }).selectOption("member");
    await page.getByRole("button", { name: "Change the role" }).click();
    await eventually(
      async () => (await client.members.list()).find(({ id }) => id === userId)?.role,
      (role) => role === "member",
    );
    await page.getByRole("link", { name: "Audit log" }).click();
    const table = page.getByRole("region", { name: "Audit log" });
    const change = table.getByRole("row").filter({ hasText: "from: viewer · to: member" });
    await change.getByRole("cell", { name: "Owner", exact: true }).waitFor();
    await change.getByRole("link", { name: "viewer" }).waitFor();
    const created = table.getByRole("row", { name: "Created an environment" });
    await created.getByText("named").waitFor();
    await table.getByRole("rowheader", { name: /^\w+day,? \d+ \w+ \d{4}$/ }).waitFor();

    // Moves the event to a different day, outside of the last 24 hours.
    const old = Date.now() - 3 * 86_400_000;
    await store.database
      .updateTable("audit_events")
      .set({ created_at: old * 1_000 })
      .where("action", "=", "environment.create")
      .execute();
    await table.getByRole("button", { name: "Refresh" }).click();
    await table.getByRole("rowheader", { name: /day/ }).nth(1).waitFor();
    await table.getByRole("combobox", { name: "Period" }).selectOption("The last 24 hours");
    await created.waitFor({ state: "detached" });
    await table.getByRole("combobox", { name: "Period" }).selectOption("Any time");
    await table.getByRole("combobox", { name: "Action" }).selectOption("Signed in");
    await table.getByText("from: viewer · to: member").waitFor({ state: "detached" });
    await table.getByRole("cell", { name: "Signed in" }).first().waitFor();
    await table.getByRole("combobox", { name: "Action" }).selectOption("All actions");
    const people = table.getByRole("combobox", { name: "By whom" });
    await people.selectOption("viewer");
    const made = table.getByRole("row", { name: "Created an environment" });
    await made.waitFor({ state: "detached" });
    await people.selectOption("Owner");
    await made.waitFor();
  },
);

dashboardTest("A second owner sees whose the keys of the account are, and revokes one", async (visitor) => {
  const { visit, client, presage, databaseUrl } = visitor;
  const made = await client.apiKeys.create({ name: "of the first owner" });
  await using store = await openStore(databaseUrl);
  const eve = await makeUser(store, "owner", "eve@example.org");
  const address = await signInAddressOf(store, presage.url, eve);
  const page = await visit(address, { isSignedIn: false });
  await page.getByRole("link", { name: "Settings" }).click();
  const row = page.getByRole("row", { name: "of the first owner" });
  await row.getByRole("cell", { name: "Owner", exact: true }).waitFor();
  await row.getByRole("button", { name: "Revoke of the first owner" }).click();
  await page.getByRole("button", { name: "Revoke key" }).click();
  await row.waitFor({ state: "detached" });
  const revoked = (await client.apiKeys.list()).find(({ id }) => id === made.id);
  expect(revoked?.revoked_at).toBeString();
  // Makes the first owner the last one again.
  await client.members.update(eve, { role: "viewer" });
});

slowBrowserTest(
  "A key that is pressed on the own role asks before it changes anything",
  async ({ visit }) => {
    const page = await visit("/account/members");
    const role = page
      .getByRole("row", { name: "Owner" })
      .filter({ hasText: "You" })
      .getByRole("combobox", { name: "Role of" });
    await role.focus();
    await page.keyboard.press("m");
    const question = page.getByRole("alertdialog", { name: "Make yourself a member?" });
    await question.getByText("only another owner can make you an owner again").waitFor();
    await question.getByRole("button", { name: "Cancel" }).click();
    await question.waitFor({ state: "detached" });
    expect(await role.inputValue()).toBe("owner");
  },
);

dashboardTest(
  "The id at an identity provider is shown where there is a provider",
  async ({ visit, client }) => {
    const page = await visit("/account");
    await page.getByText("None: sign-in links of this server").waitFor();
    expect(await page.getByText("Your id there").count()).toBe(0);
    const me = { ...(await client.me()), oidc_issuer: "https://id.example.org", oidc_subject: "00u1" };
    await page.route("**/v1/me", (route) => route.fulfill({ json: me }));
    await page.reload();
    await page.getByText("Your id there").waitFor();
    await page.getByText("00u1").waitFor();
  },
);

slowDashboardTest("The last owner reads why they stay one", async ({ visit, expectErrors }) => {
  expectErrors(/status of 409 .*\/v1\/members/);
  const page = await visit("/account/members");
  const row = page.getByRole("row", { name: "Owner" }).filter({ hasText: "You" });
  await row.getByRole("combobox").selectOption("viewer");
  await page.getByRole("button", { name: "Change the role" }).click();
  await page.getByRole("alert").getByText("Make someone else an owner first").waitFor();
  expect(await row.getByRole("combobox").inputValue()).toBe("owner");
});

dashboardTest("A viewer sees what their role does not allow, and why", async (visitor) => {
  const page = await visitAsViewer(visitor, "bob@example.org");
  await page.goto(`${visitor.presage.url}/account/members`);
  // From here on, the page knows the role.
  await page.getByText("Your role is viewer. Only owners of your account see this page").waitFor();
  await page.goto(`${visitor.presage.url}/account`);
  await page.getByRole("link", { name: "API keys" }).waitFor();
  expect(await page.getByRole("link", { name: "Members" }).count()).toBe(0);
  await page.goto(`${visitor.presage.url}/datasets`);
  const upload = page
    .getByRole("button", { name: "Upload", exact: true })
    .and(page.locator("[aria-disabled]"));
  await upload.waitFor();
  expect(await upload.getAttribute("title")).toContain("Your role is viewer.");
  await upload.click({ force: true });
  expect(await page.getByRole("dialog").count()).toBe(0);
});

slowDashboardTest(
  "A viewer's page refuses what would change an environment, a run or a dataset",
  async (visitor) => {
    const { client, presage } = visitor;
    await client.environments.create({ name: "cellar", max_steps: 2 });
    const dataset = await uploadHousehold(client, "viewed");
    const run = await finishRun(client, { dataset_id: dataset.id, target: { baseline: "no-change" } });
    const page = await visitAsViewer(visitor, "vera@example.org");
    const expectRefused = async (path: string, names: string[], role: "button" | "menuitem" = "button") => {
      if (new URL(page.url()).pathname !== path) await page.goto(`${presage.url}${path}`);
      for (const name of names) {
        const control = page.getByRole(role, { name, exact: true }).and(page.locator("[aria-disabled=true]"));
        await control.waitFor();
        expect(await control.getAttribute("aria-description")).toContain("Your role is viewer.");
      }
    };
    await expectRefused("/environments/cellar", ["Delete the environment", "Revise", "Make a dataset"]);
    await expectRefused("/runs", ["New run"]);
    await expectRefused(`/datasets/${dataset.id}`, ["New run", "New world"]);
    const [result] = await client.results.search({ evaluation_run_id: run.id, limit: 1 });
    await page.goto(`${presage.url}/review?result=${result?.id}`);
    await expectRefused("/review", ["Pass", "Fail"]);
    await page.goto(`${presage.url}/worlds?dataset=${dataset.id}`);
    await expectRefused("/worlds", ["New world"]);
    expect(await page.getByRole("dialog").count()).toBe(0);
    await page.goto(`${presage.url}/runs/${run.id}`);
    await page.getByRole("button", { name: "More actions" }).click();
    await expectRefused(`/runs/${run.id}`, ["Delete the run"], "menuitem");
  },
);

slowDashboardTest("A viewer's playground asks nothing by its shortcut either", async (visitor) => {
  const page = await visitAsViewer(visitor, "paul@example.org");
  await page.goto(`${visitor.presage.url}/playground`);
  await page.getByRole("button", { name: "Predict" }).and(page.locator("[aria-disabled=true]")).waitFor();
  await page.getByRole("textbox", { name: "State" }).fill("A dark room.");
  await page.getByRole("textbox", { name: "Action" }).fill("wait");
  await page.keyboard.press("Control+Enter");
  expect(await page.getByRole("tab", { name: "Prompt" }).getAttribute("aria-selected")).toBe("true");
});

slowDashboardTest("A viewer's key has the scopes that they choose of their own", async (visitor) => {
  const page = await visitAsViewer(visitor, "eve@example.org");
  await page.goto(`${visitor.presage.url}/api-keys`);
  await page.getByRole("button", { name: "Create key", exact: true }).click();
  const form = page.getByRole("dialog", { name: "Create key" });
  await form.getByRole("textbox", { name: "Name" }).fill("reader");
  await form.getByRole("checkbox", { name: "Predict, play episodes" }).waitFor({ state: "detached" });
  await form.getByRole("checkbox", { name: "Read" }).check();
  await form.getByRole("button", { name: "Create key" }).click();
  await page.getByRole("button", { name: "I have stored it" }).click();
  await page.getByRole("row", { name: "reader" }).getByText("read", { exact: true }).waitFor();
});

dashboardTest("A page is loaded anew once someone else has signed in", async ({ visit, client }) => {
  const page = await visit("/account");
  await page.getByText("None: sign-in links of this server").waitFor();
  const me = { ...(await client.me()), id: "0190c1f4-0000-7000-8000-000000000000" };
  await page.route("**/v1/me", (route) => route.fulfill({ json: me }), { times: 1 });
  await page.evaluate(() => {
    Object.assign(window, { isOld: true });
    window.dispatchEvent(new Event("visibilitychange"));
  });
  expect(
    await eventually(
      () => page.evaluate(() => !("isOld" in window)),
      (isNew) => isNew,
    ),
  ).toBe(true);
});
