import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { dashboardTests } from "./support/dashboard-tests.ts";

const maxBytes = 190_000;

interface Script {
  /** As transferred. */
  bytes: number;
  /** The URLs of its static imports. */
  imports: string[];
}

const dashboardTest = dashboardTests();

dashboardTest(
  "The scripts of the first page are small, and smaller still before it is usable",
  async (visitor) => {
    const page = await visitor.visit("/");
    await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
    await page.locator("svg.recharts-surface").first().waitFor();
    await page.waitForLoadState("networkidle");
    const scripts = await loadedScripts(page);
    const roots = [...scripts.keys()].filter((address) =>
      /(apply-theme|overview-page)-\w+\.js$/.test(address),
    );
    const entry = await page
      .locator("script[type=module]")
      .evaluate((script: HTMLScriptElement) => script.src);
    const needed = closure(scripts, [...roots, entry]);

    const sizeOf = (addresses: Iterable<string>) =>
      [...addresses].reduce((sum, address) => sum + (scripts.get(address)?.bytes ?? 0), 0);
    expect(roots).toHaveLength(2);
    // The charts are loaded afterwards.
    expect(needed.size).toBeLessThan(scripts.size);
    expect(sizeOf(needed)).toBeGreaterThan(50_000);
    expect(sizeOf(needed)).toBeLessThan(maxBytes);
  },
);

async function loadedScripts(page: Page): Promise<Map<string, Script>> {
  const loaded = await page.evaluate(() =>
    performance
      .getEntriesByType("resource")
      .filter((entry) => entry instanceof PerformanceResourceTiming)
      .filter(({ name }) => name.endsWith(".js"))
      .map(({ name, encodedBodySize }) => ({ address: name, bytes: encodedBodySize })),
  );
  const transpiler = new Bun.Transpiler({ loader: "js" });
  const scripts = loaded.map(async ({ address, bytes }) => {
    const imports = transpiler
      .scanImports(await (await fetch(address)).text())
      .filter(({ kind }) => kind === "import-statement")
      .map(({ path }) => new URL(path, address).href);
    return [address, { bytes, imports }] as const;
  });
  return new Map(await Promise.all(scripts));
}

/** The scripts at `addresses` and everything that they import. */
function closure(scripts: ReadonlyMap<string, Script>, addresses: readonly string[]): Set<string> {
  const reached = new Set(addresses);
  // A set can grow while it is iterated.
  for (const address of reached) {
    for (const imported of scripts.get(address)?.imports ?? []) reached.add(imported);
  }
  return reached;
}
