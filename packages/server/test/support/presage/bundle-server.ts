// Bundles the server for the tests that start processes, and prints the path of its `main.js`, and on a second line that of an executable of it.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { bundleServer, compileServer } from "../../../build/bundle-server.ts";

const outdir = join(import.meta.dir, "../../../dist/tests");
const commandName = "npx presage";
rmSync(outdir, { recursive: true, force: true });
await bundleServer(outdir, { dashboardFolder: "../../../web/dist/", commandName });
process.stdout.write(`${join(outdir, "main.js")}\n`);

// Presage is delivered as an executable for these.
const targets: Record<string, Bun.Build.CompileTarget> = { x64: "bun-linux-x64", arm64: "bun-linux-arm64" };
const target = process.platform === "linux" ? targets[process.arch] : undefined;
if (target !== undefined) {
  const executable = join(outdir, "presage");
  await compileServer(executable, {
    target,
    runtime: process.execPath,
    dashboardFolder: undefined,
    commandName,
  });
  process.stdout.write(`${executable}\n`);
}
