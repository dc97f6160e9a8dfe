import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { bun, root } from "./ensure-installed.mjs";

/** Bundles the server unless that is done already, and returns the path of what is to be run. */
export function buildServer() {
  const build = join(root, "packages/server/build/build-bundle.ts");
  const { status, stdout } = spawnSync(bun, [build], { stdio: ["ignore", "pipe", "inherit"] });
  if (status === 0) return String(stdout);
  process.stderr.write("Bundling the server failed; see above.\n");
  process.exit(1);
}
