import { expect, test } from "bun:test";
import { join } from "node:path";
import type { Presage } from "@presage/sdk";
import type { createAppRouter } from "../../src/router.tsx";
import { dashboardTests } from "../support/dashboard-tests.ts";
import { expectAccessible, wide } from "../support/expect-accessible.ts";
import { fillDashboard } from "../support/fill-dashboard.ts";
import { sharePage } from "../support/share-page.ts";

type Filled = Awaited<ReturnType<typeof fill>>;

interface PageUnderTest {
  /** Absent: the route's own path. */
  path?(filled: Filled): string;
  title: string;
  /** A text that is visible once the page is loaded. */
  shows: string;
  /** Opens an overlay of the page: a button's name, or keys. */
  opens?: { press: string } | { keys: string };
}

/** The page's own test, which checks its accessibility. */
interface TestedElsewhere {
  by: `${string}.test.ts`;
}

type RoutePath = keyof ReturnType<typeof createAppRouter>["routesByPath"];

/** Every route of the router, or this file does not compile. */
const pages: Record<RoutePath, (PageUnderTest | TestedElsewhere)[]> = {
  "/": [
    { title: "Overview", shows: "Can I train in it?" },
    { title: "Overview", shows: "Can I train in it?", opens: { keys: "Control+k" } },
    { title: "Overview", shows: "Can I train in it?", opens: { keys: "?" } },
  ],
  "/playground": [{ title: "Playground", shows: "Domain knowledge" }],
  "/worlds": [
    { title: "Worlds", shows: "rooms-of-records" },
    { title: "Worlds", shows: "rooms-of-records", opens: { press: "New world" } },
  ],
  "/worlds/$name": [
    { by: "../predictions/worlds.test.ts" },
    { path: () => "/worlds/rooms-of-records?tab=examples", title: "rooms-of-records", shows: "household" },
    { path: () => "/worlds/rooms-of-records?tab=revisions", title: "rooms-of-records", shows: "at most 4" },
    {
      path: () => "/worlds/rooms-of-records",
      title: "rooms-of-records",
      shows: "No answer yet",
      opens: { press: "Revise" },
    },
  ],
  "/predictions": [
    { by: "../predictions/predictions.test.ts" },
    { title: "Predictions", shows: "predictions", opens: { press: "Delete" } },
  ],
  "/log": [{ title: "Predictions", shows: "predictions" }],
  "/deployments": [{ title: "Deployments", shows: "Median latency" }],
  "/environments": [
    { by: "../environments/environments.test.ts" },
    { title: "Environments", shows: "attic", opens: { press: "New environment" } },
  ],
  "/environments/$name": [
    { path: () => "/environments/attic?tab=tasks", title: "attic", shows: "A dark room." },
    { path: () => "/environments/attic?tab=success", title: "attic", shows: "Of the ended episodes" },
    {
      path: () => "/environments/attic?tab=tasks",
      title: "attic",
      shows: "A dark room.",
      opens: { press: "Add tasks" },
    },
    {
      path: () => "/environments/attic",
      title: "attic",
      shows: "train 0",
      opens: { press: "Make a dataset" },
    },
    { path: () => "/environments/attic", title: "attic", shows: "train 0", opens: { press: "Revise" } },
    {
      path: () => "/environments/attic",
      title: "attic",
      shows: "train 0",
      opens: { press: "Delete the environment" },
    },
  ],
  "/environments/$name/play": [{ by: "../environments/play.test.ts" }],
  "/episodes/$episodeId": [{ by: "../environments/environments.test.ts" }],
  "/evaluations": [
    { title: "Evaluations", shows: "fridge/0" },
    { path: () => "/evaluations?view=verdicts", title: "Evaluations", shows: "close enough" },
    {
      path: ({ result }) => `/evaluations?result=${result}`,
      title: "Evaluations",
      shows: "The door is not named.",
    },
    { title: "Evaluations", shows: "fridge/0", opens: { press: "Saved views" } },
  ],
  "/datasets": [
    { title: "Datasets", shows: "household" },
    { title: "Datasets", shows: "household", opens: { press: "Upload" } },
  ],
  "/datasets/$datasetId": [
    { path: ({ dataset }) => `/datasets/${dataset}`, title: "household", shows: "drawer" },
  ],
  "/datasets/$datasetId/trajectories/$trajectoryId": [
    {
      path: ({ dataset }) => `/datasets/${dataset}/trajectories/oven?step=1`,
      title: "oven",
      shows: "wait",
    },
  ],
  "/runs": [{ title: "Runs", shows: "nothing changes" }],
  "/runs/new": [{ title: "New run", shows: "Dataset" }],
  "/runs/$runId": [
    { path: ({ run }) => `/runs/${run}`, title: "nothing changes", shows: "exact-match" },
    { path: ({ run }) => `/runs/${run}?tab=samples`, title: "nothing changes", shows: "fridge/0" },
    {
      path: ({ run }) => `/runs/${run}?tab=samples&sample=oven%2F0`,
      title: "nothing changes",
      shows: "What the model saw as state",
    },
  ],
  "/runs/$runId/trajectories/$trajectoryId": [
    {
      path: ({ run }) => `/runs/${run}/trajectories/oven`,
      title: "oven",
      shows: "What the model saw as state",
    },
  ],
  "/compare": [{ by: "../runs/compare.test.ts" }],
  "/evaluators": [
    { title: "Evaluators", shows: "close enough" },
    { title: "Evaluators", shows: "close enough", opens: { press: "New profile" } },
  ],
  "/evaluators/profiles/$publicId": [
    {
      path: ({ profile }) => `/evaluators/profiles/${profile}`,
      title: "close enough",
      shows: "Confirmed by people",
    },
  ],
  "/error-taxonomies": [
    { title: "Error taxonomies", shows: "slips" },
    { title: "Error taxonomies", shows: "slips", opens: { press: "New taxonomy" } },
  ],
  "/error-taxonomies/$taxonomyId": [
    { path: ({ taxonomy }) => `/error-taxonomies/${taxonomy}`, title: "slips", shows: "Wrong room" },
  ],
  "/review": [{ title: "Review", shows: "labelled, " }],
  "/usage": [{ title: "People & spend", shows: "Owner" }],
  "/api-keys": [
    { title: "API keys", shows: "training cluster" },
    { title: "API keys", shows: "training cluster", opens: { press: "Create key" } },
  ],
  "/account": [{ title: "Account", shows: "This browser" }],
  "/account/members": [{ title: "Members", shows: "Owner" }],
  "/account/audit-log": [{ title: "Audit log", shows: "Created an environment" }],
};

/** Creates what every page shows, and an environment that can be changed. */
async function fill(client: Presage) {
  const filled = await fillDashboard(client);
  await client.environments.create({ name: "attic", max_steps: 2 });
  await client.environments.addTasks("attic", [{ initial_state: "A dark room." }]);
  await client.episodes.start({ environment: "attic", index: 0 });
  return filled;
}

const overPages = "[role=dialog], [role=alertdialog], [role=menu]";
/** Without motion, colours change immediately. */
const reducedMotion = "reduce";

const lookAt = sharePage({ viewport: wide, reducedMotion });
const { browserTest } = dashboardTests();
let filling: Promise<Filled> | undefined;

const listed = Object.entries(pages).flatMap(([route, some]) => some.map((one) => ({ route, ...one })));

/** Matches a string with an address of a route: with any parameters, and any search. */
function addressOf(route: string): RegExp {
  return new RegExp(`["\`]${route.replaceAll(/\$\w+/g, '[^/"`]+')}["\`?]`);
}

for (const one of listed) {
  if ("by" in one) {
    test(`${one.by} asks axe about ${one.route}`, async () => {
      const text = await Bun.file(join(import.meta.dir, one.by)).text();
      expect(text).toContain("await expectAccessible(");
      expect(text).toMatch(addressOf(one.route));
    });
    continue;
  }
  const { route, path, title, shows, opens } = one;
  const opened = opens === undefined ? "" : `, “${"keys" in opens ? opens.keys : opens.press}”`;
  browserTest(
    `${path === undefined ? route : title}${opened} has its title and is accessible, wide and narrow, light and dark`,
    async (visitor) => {
      filling ??= fill(visitor.client);
      const filled = await filling;
      await lookAt(visitor, path?.(filled) ?? route, async (page) => {
        await page.getByText(shows).filter({ visible: true }).first().waitFor();
        await page.getByRole("heading", { level: 1, name: title }).waitFor();
        expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
        expect(await page.title()).toBe(`${title} · Presage`);
        if (opens === undefined) return await expectAccessible(page);
        if ("keys" in opens) await page.keyboard.press(opens.keys);
        else await page.getByRole("button", { name: opens.press, exact: true }).press("Enter");
        const over = page.locator(overPages).filter({ visible: true }).first();
        await over.waitFor();
        // The page below has been checked already.
        await expectAccessible(page, overPages);
        await page.keyboard.press("Escape");
        await over.waitFor({ state: "hidden" });
      });
    },
  );
}

browserTest("A page is accessible while the server has answered nothing", async ({ visit }) => {
  const page = await visit("/sign-in", { viewport: wide, reducedMotion });
  await page.route("**/v1/**", () => {});
  await page.goto(new URL("/account", page.url()).href);
  await page.getByRole("heading", { level: 1, name: "Account" }).waitFor();
  await page.getByRole("button", { name: "Account", exact: true }).waitFor();
  await expectAccessible(page);
});

browserTest("The sign-in page is accessible, wide and narrow, light and dark", async ({ visit }) => {
  const page = await visit("/sign-in", { isSignedIn: false, viewport: wide, reducedMotion });
  await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  await expectAccessible(page);
});
