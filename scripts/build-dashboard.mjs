import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { bun, root } from "./ensure-installed.mjs";

/** Builds the dashboard unless the existing build is up to date. */
export function buildDashboard() {
  const build = join(root, "packages/web/build.ts");
  const { status } = spawnSync(bun, [build], { stdio: ["ignore", "inherit", "inherit"] });
  if (status === 0) return;
  process.stderr.write("Building the dashboard failed; see above.\n");
  process.exit(1);
}
