import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { bun, root } from "./ensure-installed.mjs";

/** Builds the dashboard, unless what is there is already what its sources make. */
export function buildDashboard() {
  const build = join(root, "packages/web/build.ts");
  const { status } = spawnSync(bun, [build], { stdio: ["ignore", "inherit", "inherit"] });
  if (status === 0) return;
  process.stderr.write("The dashboard could not be built; see above.\n");
  process.exit(1);
}
