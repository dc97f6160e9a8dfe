import { expect, test } from "bun:test";
import { dirname, join } from "node:path";

const sources = join(import.meta.dir, "../../src");
const transpiler = new Bun.Transpiler({ loader: "ts" });

/** The server's files that one imports for their values at once, over any number of others. */
async function reachedFrom(file: string, reached = new Set<string>()): Promise<Set<string>> {
  if (reached.has(file)) return reached;
  reached.add(file);
  // Imports of types alone are none here.
  for (const { kind, path } of transpiler.scanImports(await Bun.file(file).text()))
    if (kind === "import-statement" && /^\..*\.ts$/.test(path))
      await reachedFrom(join(dirname(file), path), reached);
  return reached;
}

/** Who reads how a request is answered opens no more. */
const limits = {
  "predictions/predictions-route.ts": 30,
  "results/evaluate-route.ts": 42,
  "results/search/search-route.ts": 38,
  "runs/runs-route.ts": 65,
  "environments/ors/ors-route.ts": 48,
};

for (const [route, limit] of Object.entries(limits))
  test(`${route} reaches at most ${limit} files`, async () => {
    const reached = await reachedFrom(join(sources, route));
    expect([...reached].slice(limit)).toEqual([]);
    expect(reached.size).toBeGreaterThan(limit / 2);
  });
