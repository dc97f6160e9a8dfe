import { expect } from "bun:test";
import { dashboardTests } from "./support/dashboard-tests.ts";
import { expectAccessible, wide } from "./support/expect-accessible.ts";
import { fillDashboard } from "./support/fill-dashboard.ts";

type Filled = Awaited<ReturnType<typeof fillDashboard>>;

interface PageUnderTest {
  path(filled: Filled): string;
  title: string;
  /** A text that is visible once the page is loaded. */
  shows: string;
  /** A button to press then. */
  press?: string;
}

const pages: PageUnderTest[] = [
  { path: () => "/", title: "Overview", shows: "close enough" },
  { path: () => "/playground", title: "Playground", shows: "Domain knowledge" },
  { path: () => "/deployments", title: "Deployments", shows: "Replica" },
  { path: () => "/evaluations", title: "Evaluations", shows: "close enough" },
  {
    path: ({ result }) => `/evaluations?result=${result}`,
    title: "Evaluations",
    shows: "The door is not named.",
  },
  { path: () => "/evaluations?view=samples", title: "Evaluations", shows: "fridge/0" },
  { path: () => "/datasets", title: "Datasets", shows: "household" },
  { path: () => "/datasets", title: "Datasets", shows: "household", press: "Upload" },
  { path: ({ dataset }) => `/datasets/${dataset}`, title: "household", shows: "drawer" },
  {
    path: ({ dataset }) => `/datasets/${dataset}/trajectories/oven?step=1`,
    title: "oven",
    shows: "wait",
  },
  { path: ({ run }) => `/runs/${run}?tab=samples`, title: "nothing changes", shows: "fridge/0" },
  {
    path: ({ run }) => `/runs/${run}?tab=samples&sample=oven%2F0`,
    title: "nothing changes",
    shows: "What the model saw as state",
  },
  {
    path: ({ run }) => `/runs/${run}/trajectories/oven`,
    title: "oven",
    shows: "What the model saw as state",
  },
  { path: () => "/evaluators", title: "Evaluators", shows: "close enough" },
  { path: ({ profile }) => `/evaluators/profiles/${profile}`, title: "close enough", shows: "People agreed" },
  { path: () => "/error-taxonomies", title: "Error taxonomies", shows: "slips" },
  { path: ({ taxonomy }) => `/error-taxonomies/${taxonomy}`, title: "slips", shows: "Wrong room" },
  { path: () => "/review", title: "Review", shows: "left here" },
  { path: () => "/usage", title: "Usage", shows: "bootstrap" },
  { path: () => "/api-keys", title: "API keys", shows: "training cluster" },
  { path: () => "/api-keys", title: "API keys", shows: "training cluster", press: "Create key" },
  { path: () => "/evaluators", title: "Evaluators", shows: "close enough", press: "New profile" },
  { path: () => "/error-taxonomies", title: "Error taxonomies", shows: "slips", press: "New taxonomy" },
  { path: () => "/account", title: "Account", shows: "This browser" },
  { path: () => "/runs", title: "Runs", shows: "nothing changes" },
  { path: ({ run }) => `/runs/${run}`, title: "nothing changes", shows: "exact-match" },
  { path: () => "/runs/new", title: "New run", shows: "Dataset" },
];

/** Without motion, colours change immediately. */
const reducedMotion = "reduce";

const dashboardTest = dashboardTests();
let filling: Promise<Filled> | undefined;

for (const { path, title, shows, press } of pages) {
  const name = press === undefined ? title : `${title}, “${press}”`;
  dashboardTest(
    `${name} has its title and is accessible, wide and narrow, light and dark`,
    async (visitor) => {
      filling ??= fillDashboard(visitor.client);
      const page = await visitor.visit(path(await filling), { viewport: wide, reducedMotion });
      await page.getByText(shows).filter({ visible: true }).first().waitFor();
      await page.getByRole("heading", { level: 1, name: title }).waitFor();
      expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
      expect(await page.title()).toBe(`${title} · Presage`);
      if (press !== undefined) await page.getByRole("button", { name: press }).click();
      await expectAccessible(page);
    },
  );
}

dashboardTest("A page is accessible while the server has answered nothing", async ({ visit }) => {
  const page = await visit("/sign-in", { viewport: wide, reducedMotion });
  await page.route("**/v1/**", () => {});
  await page.goto(new URL("/account", page.url()).href);
  await page.getByRole("heading", { level: 1, name: "Account" }).waitFor();
  await page.getByRole("button", { name: "Account", exact: true }).waitFor();
  await expectAccessible(page);
});

dashboardTest("The sign-in page is accessible, wide and narrow, light and dark", async ({ visit }) => {
  const page = await visit("/sign-in", { isSignedIn: false, viewport: wide, reducedMotion });
  await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  await expectAccessible(page);
});
