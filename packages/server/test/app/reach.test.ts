import { expect, test } from "bun:test";
import { dirname, join } from "node:path";

const sources = join(import.meta.dir, "../../src");
const transpiler = new Bun.Transpiler({ loader: "ts" });

/** The server's files that a file imports statically for their values, directly or through others. */
async function reachedFrom(file: string, reached = new Set<string>()): Promise<Set<string>> {
  if (reached.has(file)) return reached;
  reached.add(file);
  // Type-only imports are not listed.
  for (const { kind, path } of transpiler.scanImports(await Bun.file(file).text()))
    if (kind === "import-statement" && /^\..*\.ts$/.test(path))
      await reachedFrom(join(dirname(file), path), reached);
  return reached;
}

/** The most files that someone has to open to read how a request is answered. */
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
