import { describe, expect } from "bun:test";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults, RunOptions } from "axe-core";
import type { Page } from "playwright-core";
import { eventually } from "../../server/test/support/eventually.ts";
import { dashboardTests } from "./support/dashboard-tests.ts";
import { fillDashboard } from "./support/fill-dashboard.ts";
import { sidewaysOverflow } from "./support/sideways-overflow.ts";

type Filled = Awaited<ReturnType<typeof fillDashboard>>;

interface PageUnderTest {
  path(filled: Filled): string;
  title: string;
  /** Is in the page once it has what it asked the server for. */
  shows: string;
}

const pages: PageUnderTest[] = [
  { path: () => "/", title: "Overview", shows: "rouge-l-20" },
  { path: () => "/playground", title: "Playground", shows: "Domain knowledge" },
  { path: () => "/evaluations", title: "Evaluations", shows: "close enough" },
  {
    path: ({ result }) => `/evaluations?result=${result}`,
    title: "Evaluations",
    shows: "The door is not named.",
  },
  { path: () => "/evaluators", title: "Evaluators", shows: "close enough" },
  { path: ({ profile }) => `/evaluators/profiles/${profile}`, title: "close enough", shows: "People agreed" },
  { path: () => "/error-taxonomies", title: "Error taxonomies", shows: "slips" },
  { path: ({ taxonomy }) => `/error-taxonomies/${taxonomy}`, title: "slips", shows: "Wrong room" },
  { path: () => "/usage", title: "Usage", shows: "bootstrap" },
  { path: () => "/api-keys", title: "API keys", shows: "training cluster" },
  { path: () => "/account", title: "Account", shows: "This browser" },
];

const wide = { width: 1440, height: 900 };
const narrow = { width: 390, height: 844 };
const axe = readFileSync(createRequire(import.meta.path).resolve("axe-core"), "utf8");
/** The dark page differs from the light one by its colours only. */
const rules: Record<"light" | "dark", RunOptions> = {
  light: { resultTypes: ["violations"] },
  dark: { resultTypes: ["violations"], runOnly: ["color-contrast"] },
};

const dashboardTest = dashboardTests();
let filling: Promise<Filled> | undefined;

describe.each(pages)("$title", ({ path, title, shows }) => {
  dashboardTest(
    "has its title and no serious fault of accessibility, wide and narrow, light and dark",
    async ({ visit, client }) => {
      filling ??= fillDashboard(client);
      const page = await visit(path(await filling), { viewport: wide });
      await page.getByText(shows).filter({ visible: true }).first().waitFor();
      await page.getByRole("heading", { level: 1, name: title }).waitFor();
      expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
      expect(await page.title()).toBe(`${title} · Presage`);

      await page.evaluate(axe);
      for (const viewport of [wide, narrow]) {
        await page.setViewportSize(viewport);
        expect(
          await eventually(
            () => sidewaysOverflow(page),
            (pixels) => pixels === 0,
            2_000,
          ),
        ).toBe(0);
        for (const colorScheme of ["light", "dark"] as const) {
          await changeTheme(page, colorScheme);
          expect({
            viewport,
            colorScheme,
            faults: await seriousFaults(page, rules[colorScheme]),
          }).toMatchObject({ faults: [] });
        }
      }
    },
  );
});

async function changeTheme(page: Page, colorScheme: "light" | "dark"): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.locator(`html[data-theme=${colorScheme}]`).waitFor();
  // Until no colour is on its way to another: each one that has arrived may set out those below it.
  await page.evaluate(async () => {
    const underWay = () => document.getAnimations().filter((animation) => animation instanceof CSSTransition);
    for (let some = underWay(); some.length > 0; some = underWay()) {
      await Promise.allSettled(some.map(({ finished }) => finished));
    }
  });
}

async function seriousFaults(page: Page, runOptions: RunOptions): Promise<string[]> {
  const { violations }: AxeResults = await page.evaluate(`axe.run(${JSON.stringify(runOptions)})`);
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id} ${target.join(" ")}: ${failureSummary}`),
    );
}
