// Bundles the server for the tests that start processes, and prints the path of its `main.js`.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { bundleServer } from "../../../build/bundle-server.ts";

const outdir = join(import.meta.dir, "../../../dist/tests");
rmSync(outdir, { recursive: true, force: true });
await bundleServer(outdir, { dashboardFolder: "../../../web/dist/", commandName: "npx presage" });
process.stdout.write(`${join(outdir, "main.js")}\n`);
