// `npm run check:upgrade -- [git ref]`: upgrades PostgreSQL from the code of an earlier commit to this one under load, old and new
// processes side by side, and counts what was lost. Without a ref: the last tag, or else the commit before the newest migration.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bun, ensureInstalled, root } from "./ensure-installed.mjs";
import { runOrExit } from "./run-or-exit.mjs";

await ensureInstalled({ forDevelopment: true });
const ref = process.argv[2] ?? lastTag() ?? beforeTheNewestMigration();
const commit = git("rev-parse", "--verify", `${ref}^{commit}`);
const folder = mkdtempSync(join(tmpdir(), "presage-earlier-"));
try {
  expectPrefix();
  process.stdout.write(
    `From ${ref} (${git("log", "-1", "--format=%h of %as, %s", commit)}) to this clone.\n`,
  );
  unpack();
  install();
  const check = join(root, "packages", "server", "test", "slow", "upgrades", "check-rolling-upgrade.ts");
  const { status } = spawnSync(bun, [check, join(folder, "packages", "server", "src", "main.ts")], {
    stdio: "inherit",
  });
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Branches may number their migrations at the same time: a commit in the middle of one may have a schema that was never on main. */
function expectPrefix() {
  const now = migrationsAt("HEAD");
  const unlike = migrationsAt(commit).find((name, index) => name !== now[index]);
  if (unlike === undefined) return;
  throw new Error(`No version began with the migrations of ${ref}: ${unlike} is not where it is today.`);
}

/** The names that the list of migrations has at a commit, in their order; the first versions kept it in another folder. */
function migrationsAt(at) {
  const path = ["packages/server/src/platform/storage", "packages/server/src/storage"]
    .map((folder) => `${folder}/migrations/index.ts`)
    .find((each) => git("ls-tree", "--name-only", at, each) !== "");
  if (path === undefined) throw new Error(`${at} has no list of migrations.`);
  const quoted = git("show", `${at}:${path}`).matchAll(/"(\d{3}-[a-z0-9-]+)"/g);
  return [...new Set([...quoted].map(([, name]) => name))].sort();
}

/** The files of the commit; the clone's own are not touched. */
function unpack() {
  const archive = join(folder, "earlier.tar");
  runOrExit("git", ["-C", root, "archive", "--output", archive, commit], { quiet: true });
  runOrExit("tar", ["-xf", archive, "-C", folder], { quiet: true });
}

/** The packages that the commit names: those of this clone if the lock files are the same. */
function install() {
  const lock = (directory) => readFileSync(join(directory, "package-lock.json"), "utf8");
  if (lock(folder) !== lock(root))
    return runOrExit(
      "npm",
      ["install", "--no-save", "--no-fund", "--no-audit", "--omit=dev", "--prefix", folder],
      {
        quiet: true,
      },
    );
  for (const place of [".", "packages/server"]) {
    const modules = join(root, place, "node_modules");
    mkdirSync(join(folder, place), { recursive: true });
    // Links to the workspace's packages point to those of the commit.
    cpSync(modules, join(folder, place, "node_modules"), { recursive: true, verbatimSymlinks: true });
  }
}

function lastTag() {
  const { status, stdout } = spawnSync("git", ["-C", root, "describe", "--tags", "--abbrev=0"], {
    encoding: "utf8",
  });
  return status === 0 ? stdout.trim() : undefined;
}

function beforeTheNewestMigration() {
  const list = "packages/server/src/platform/storage/migrations/index.ts";
  const newest = migrationsAt("HEAD").at(-1);
  return `${git("log", "--reverse", "--format=%H", `-S"${newest}"`, "--", list).split("\n")[0]}~1`;
}

function git(...args) {
  const { status, stdout, stderr } = spawnSync("git", ["-C", root, ...args], { encoding: "utf8" });
  if (status !== 0) throw new Error(`git ${args[0]} failed: ${stderr}`);
  return stdout.trim();
}
