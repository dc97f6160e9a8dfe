import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { bun, root } from "./ensure-installed.mjs";

const server = join(root, "packages/server");

/** Bundles the server unless that is done already, and returns the path of what is to be run. */
export function buildServer() {
  const build = join(server, "build/build-bundle.ts");
  const { status, stdout } = spawnSync(bun, [build], { stdio: ["ignore", "pipe", "inherit"] });
  if (status === 0) return String(stdout);
  // As in a folder that cannot be written.
  process.stderr.write("The server could not be bundled and runs from its sources; see above.\n");
  return join(server, "src/main.ts");
}
