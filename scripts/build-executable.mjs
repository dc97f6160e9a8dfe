// `npm run build:executable [-- TARGET …]`: compiles Presage into one file for each target, in `dist/`.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildDashboard } from "./build-dashboard.mjs";
import { bun, ensureInstalled, root } from "./ensure-installed.mjs";
import { runOrExit } from "./run-or-exit.mjs";

/** The name of Bun's package for a target. */
const runtimes = { "linux-x64": "@oven/bun-linux-x64", "linux-arm64": "@oven/bun-linux-aarch64" };

const given = process.argv.slice(2);
const unknown = given.filter((target) => !Object.hasOwn(runtimes, target));
if (unknown.length > 0) {
  process.stderr.write(
    `Unknown: ${unknown.join(", ")}. The targets are ${Object.keys(runtimes).join(", ")}.\n`,
  );
  process.exit(1);
}
await ensureInstalled({ forDevelopment: false });
await buildDashboard();

const dist = join(root, "dist");
mkdirSync(dist, { recursive: true });
for (const target of given.length > 0 ? given : Object.keys(runtimes)) {
  const work = mkdtempSync(join(tmpdir(), "presage-executable-"));
  try {
    const file = join(dist, `presage-${target}`);
    const build = join(root, "packages/server/build/build-release.ts");
    runOrExit(bun, [build, "executable", target, runtimeFor(target, work), file]);
    process.stdout.write(`${file}\n`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Bun's program for a target: the installed one, or that of the same version from the registry that npm is configured for. */
function runtimeFor(target, work) {
  if (target === `${process.platform}-${process.arch}`) return bun;
  const version = execFileSync(bun, ["--version"], { encoding: "utf8" }).trim();
  runOrExit("npm", ["pack", `${runtimes[target]}@${version}`, "--pack-destination", work, "--silent"], {
    quiet: true,
  });
  const archive = `${runtimes[target].slice(1).replace("/", "-")}-${version}.tgz`;
  runOrExit("tar", ["-xzf", join(work, archive), "-C", work]);
  return join(work, "package", "bin", "bun");
}
