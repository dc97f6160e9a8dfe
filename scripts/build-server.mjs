import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { bun, root } from "./ensure-installed.mjs";

const server = join(root, "packages/server");

/** Bundles the server unless that has been done, and returns the path of the file to run. */
export function buildServer() {
  const build = join(server, "build/build-bundle.ts");
  const { status, stdout } = spawnSync(bun, [build], { stdio: ["ignore", "pipe", "inherit"] });
  if (status === 0) return String(stdout);
  // For example, in a folder that is not writable.
  process.stderr.write("The server could not be bundled and runs from its sources; see above.\n");
  return join(server, "src/main.ts");
}
