// Bundles the server as `npm start` runs it: `bun packages/server/build/build-bundle.ts` prints the path of its `main.js`. Does
// nothing if these sources are bundled already.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { digestOfSources } from "../../../scripts/digest-of-sources.ts";
import { bundleServer, root } from "./bundle-server.ts";

const bundles = join(root, "packages/server/dist/bundles");
/** A server loads parts of its code when they are first needed, so what is running keeps its bundle. */
const olderBundlesKept = 3;

const digest = digestOfSources(
  ["server", "contract", "sandbox", "sdk"].map((name) => join(root, "packages", name, "src")),
  [
    import.meta.path,
    join(import.meta.dir, "bundle-server.ts"),
    join(root, "packages/server/package.json"),
    join(root, "package-lock.json"),
  ],
);
const folder = join(bundles, digest.slice(0, 16));
if (!existsSync(folder)) {
  process.stderr.write("Bundling the server …\n");
  mkdirSync(bundles, { recursive: true });
  removeOldBundles();
  await bundle();
}
process.stdout.write(join(folder, "main.js"));

/** Several servers may start at once: each bundles into a folder of its own, and the first one stays. */
async function bundle(): Promise<void> {
  const unfinished = join(bundles, `unfinished-${process.pid}`);
  await bundleServer(unfinished, {
    dashboardFolder: "../../../../web/dist/",
    commandName: "npx presage",
  });
  try {
    renameSync(unfinished, folder);
  } catch (error) {
    rmSync(unfinished, { recursive: true });
    if (!existsSync(folder)) throw error;
  }
}

function removeOldBundles(): void {
  const oldestFirst = readdirSync(bundles)
    .map((name) => ({ path: join(bundles, name), madeAtMs: statSync(join(bundles, name)).mtimeMs }))
    .sort((a, b) => a.madeAtMs - b.madeAtMs);
  for (const { path } of oldestFirst.slice(0, -olderBundlesKept))
    rmSync(path, { recursive: true, force: true });
}
