// Bundles the server as `npm start` runs it: `bun packages/server/build/build-bundle.ts [FOLDER]` prints the path of its `main.js`.
// Does nothing if these sources are bundled already.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { digestOfSources } from "../../../scripts/digest-of-sources.ts";
import { bundleServer, root } from "./bundle-server.ts";

const bundles = resolve(process.argv[2] ?? join(root, "packages/server/dist/bundles"));
/** A server loads parts of its code when they are first needed, so a bundle stays for as long as one may run. */
const keptForMs = 90 * 24 * 3_600_000;

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
  removeOld();
  await bundle();
}
process.stdout.write(join(folder, "main.js"));

/** Several servers may start at once: each bundles into a folder of its own, and the first one stays. */
async function bundle(): Promise<void> {
  const unfinished = mkdtempSync(join(bundles, "unfinished-"));
  await bundleServer(unfinished, {
    dashboardFolder: `${relative(unfinished, join(root, "packages/web/dist"))}/`,
    commandName: "npx presage",
  });
  try {
    renameSync(unfinished, folder);
  } catch (error) {
    rmSync(unfinished, { recursive: true });
    if (!existsSync(folder)) throw error;
  }
}

function removeOld(): void {
  for (const name of readdirSync(bundles)) {
    const path = join(bundles, name);
    const madeAtMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - madeAtMs > keptForMs) rmSync(path, { recursive: true, force: true });
  }
}
