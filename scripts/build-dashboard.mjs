import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { bun, root } from "./ensure-installed.mjs";

/** Builds the dashboard unless the existing build is up to date. */
export async function buildDashboard() {
  const build = spawn(bun, [join(root, "packages/web/build.ts")], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  const [code] = await once(build, "close");
  if (code === 0) return;
  process.stderr.write("Building the dashboard failed; see above.\n");
  process.exit(1);
}
