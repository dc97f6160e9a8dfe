// Bundles the server for the tests that start processes, and compiles it, which starts in two thirds of the bundle's time.
// Prints the paths of the bundle's `main.js` and of the executable, as variables for the tests.
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { digestOfSources } from "../../../../../scripts/digest-of-sources.ts";
import { bundleServer, compileServer } from "../../../build/bundle-server.ts";

const outdir = join(import.meta.dir, "../../../dist/tests");
const [main, executable] = [join(outdir, "main.js"), join(outdir, "presage")];
const commandName = "npx presage";
const packages = join(import.meta.dir, "../../../..");
const digest = digestOfSources(
  ["server/src", "server/build", "sdk/src", "contract/src", "sandbox/src"].map((path) =>
    join(packages, path),
  ),
  [
    import.meta.path,
    process.execPath,
    join(packages, "web/dist/digest"),
    join(packages, "../package-lock.json"),
  ],
);
const digestFile = join(outdir, "digest");
if (!existsSync(digestFile) || readFileSync(digestFile, "utf8") !== digest) {
  rmSync(outdir, { recursive: true, force: true });
  await bundleServer(outdir, { dashboardFolder: "../../../web/dist/", commandName });
  await compileServer(executable, {
    target: `bun-${process.platform}-${process.arch}` as Bun.Build.CompileTarget,
    runtime: process.execPath,
    dashboardFolder: undefined,
    commandName,
  });
  writeFileSync(digestFile, digest);
}
process.stdout.write(JSON.stringify({ PRESAGE_TEST_MAIN: main, PRESAGE_TEST_EXECUTABLE: executable }));
