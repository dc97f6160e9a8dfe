// `npm test` runs every check, even if one fails, so that one run reports all problems. `npm run test:all` runs the slow tests too, and
// those for any database on both.
import { spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
} from "node:fs";
import { constants, freemem, setPriority, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { buildDashboard } from "./build-dashboard.mjs";
import { bun, ensureInstalled, root } from "./ensure-installed.mjs";

await ensureInstalled({ forDevelopment: true });

const tool = (name) => join(root, "node_modules", ".bin", name);
// Most tests spend their time waiting, so more of them run at once than there are processors.
const workers = ["--parallel=4", "--no-isolate"];
// The slowest files start first; `npm test -- --update-timings` measures them again.
const timings = `--timings=${join(root, "scripts/test-timings.json")}`;
/** Where the tests and their PostgreSQL write. */
const folder = makeFolder();
// PostgreSQL may run as another user.
chmodSync(folder, 0o755);
process.env.TMPDIR = folder;
process.on("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(1));
const junit = join(folder, "junit.xml");
/** A breaking change makes more files fail, or fails again. */
const maxUnsteadyFiles = 3;
// Several checkers would each compute the shared types: a single one takes two thirds of the processor time.
const tsc = (project, name) => [
  ...[tool("tsc"), "--noEmit", "--checkers", "1", "--project", project],
  // The next run checks only changed files: a fifth of the processor time.
  ...["--incremental", "--tsBuildInfoFile", join(root, `node_modules/.cache/presage-types/${name}.json`)],
];
const checks = [
  { name: "format and lint (biome)", command: [tool("biome"), "check", "."] },
  { name: "types (tsc)", command: tsc(root, "all") },
  {
    name: "types of the dashboard (tsc)",
    command: tsc(join(root, "packages/web"), "web"),
  },
  { name: "unused code and dependencies (knip)", command: [tool("knip")] },
  { name: "floors and circles (dependency-cruiser)", command: ["npm", "run", "--silent", "check:floors"] },
];
const lowPriority = constants.priority.PRIORITY_BELOW_NORMAL;
const test = [bun, "test", "--timeout", "300000"];
const runsAll = process.argv[2] === "--all";
const given = process.argv.slice(runsAll ? 3 : 2);
const firstOption = given.findIndex((argument) => argument.startsWith("-"));
// Options apply to a second run too, but a run of a few files updates no timings.
const options = (firstOption < 0 ? [] : given.slice(firstOption)).filter(
  (option) => option !== "--update-timings",
);
/** What only `npm run test:all` runs. */
const slowFolders = ["packages/sdk/test/slow", "packages/server/test/slow", "packages/web/test/slow"];
const leavesOut = !runsAll && (given.length === 0 || firstOption === 0);
const leftOut = leavesOut ? slowFolders.map((folder) => `--path-ignore-patterns=${folder}/**`) : [];
const reporter = ["--reporter=junit", `--reporter-outfile=${junit}`];
const tests = {
  name: "tests (bun test)",
  command: [...test, ...workers, timings, ...leftOut, ...reporter, ...given],
};

// The checks that read the sources start immediately, on the processor time that tests leave, and show their output at the end.
const read = checks.map(({ name, command }) => ({ name, ran: run(command, undefined, {}, lowPriority) }));
const [postgres, app, bundle] = await Promise.all([
  startPostgres(),
  bundleFor("packages/web/test/support/dom/bundle-app.ts"),
  buildDashboard().then(() => bundleFor("packages/server/test/support/presage/bundle-server.ts")),
]);
const failed = app === undefined || bundle === undefined ? ["bundles for the tests"] : [];
let unsteady = [];
const environment = {
  // The last compiler pays off only in code that runs for long: without it, short runs take a fifth less processor time, and others no more.
  BUN_JSC_useFTLJIT: "0",
  // As for the server (packages/server/src/cli/command.ts): rare code is not worth compiling, and freed memory is soon needed again.
  BUN_JSC_thresholdForJITAfterWarmUp: "3000",
  BUN_JSC_thresholdForOptimizeAfterWarmUp: "8000",
  MIMALLOC_PURGE_DELAY: "500",
  MIMALLOC_PURGE_HOLES_MIN_INTERVAL: "500",
  ...(runsAll ? { PRESAGE_TEST_ALL: "1", PRESAGE_TEST_DATABASES: "both" } : {}),
  ...(postgres.url === undefined ? {} : { PRESAGE_TEST_POSTGRES: postgres.url }),
  ...app,
  ...bundle,
};
await report(tests.name, async () => await rerunFailed(await run(tests.command, process, environment)));
for (const { name, ran } of read) await report(name, () => ran);
postgres.stop();
if (unsteady.length > 0)
  process.stdout.write(`\nUnsteady, failed beside others and passed alone: ${unsteady.join(", ")}\n`);
if (leavesOut) process.stdout.write(`\n${whatIsLeftOut()}\n`);
process.stdout.write(failed.length === 0 ? "\nAll checks passed.\n" : `\nFailed: ${failed.join("; ")}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;

/** A folder for this run. Removes folders left more than a day ago by killed runs: they may take memory. */
function makeFolder() {
  const start = join(fastFolder() ?? tmpdir(), "presage-tests-");
  const yesterday = Date.now() - 24 * 60 * 60 * 1_000;
  for (const name of readdirSync(dirname(start)).filter((each) => each.startsWith(basename(start)))) {
    const path = join(dirname(start), name);
    if (statSync(path).mtimeMs < yesterday) rmSync(path, { recursive: true, force: true });
  }
  return mkdtempSync(start);
}

/** A folder in memory, where a flush takes a hundredth of the time; undefined if it is too small, or does not allow execution. */
function fastFolder() {
  const memory = "/dev/shm";
  const enough = 8 * 1024 ** 3;
  if (!existsSync(memory) || freemem() < enough) return undefined;
  const { bavail, bsize } = statfsSync(memory);
  const isExecutable = !/^\S+ \/dev\/shm \S+ \S*\bnoexec\b/m.test(readFileSync("/proc/mounts", "utf8"));
  return bavail * bsize >= enough && isExecutable ? memory : undefined;
}

function whatIsLeftOut() {
  const files = slowFolders.flatMap((folder) => readdirSync(join(root, folder), { recursive: true }));
  const count = files.filter((file) => file.endsWith(".test.ts")).length;
  return `Left out: ${count} slow files, slow cases of others, and PostgreSQL where SQL decides nothing. \`npm run test:all\` runs them.`;
}

async function report(name, run) {
  process.stdout.write(`\n== ${name}\n`);
  const { code, output, tookMs, wasShown } = await run();
  if (!wasShown) process.stdout.write(output);
  const skipped = /^\s*([1-9]\d*) (skip|todo)\b/m.exec(output);
  if (skipped !== null) process.stdout.write(`${skipped[0].trim()}: see above\n`);
  if (code !== 0 || (skipped !== null && process.env.CI)) failed.push(name);
  process.stdout.write(`== ${(tookMs / 1000).toFixed(1)} s\n`);
}

/** Runs a few files with failed tests once more, alone (docs/decisions/0015-testing.md). Those that then pass are named at the end. */
async function rerunFailed(ran) {
  const files = failedFiles(ran);
  if (files.length === 0 || files.length > maxUnsteadyFiles) return ran;
  process.stdout.write(`\n== once more, alone: ${files.join(", ")}\n`);
  const again = await run([...test, ...files.map((file) => `./${file}`), ...options], process, environment);
  if (again.code === 0) unsteady = files;
  return { ...again, output: ran.output + again.output, tookMs: ran.tookMs + again.tookMs };
}

/** The files whose tests failed; none if something outside of tests failed, or if not all tests were run. */
function failedFiles({ code, output }) {
  if (code !== 1 || !existsSync(junit) || /^\s*[1-9]\d* errors?$/m.test(output)) return [];
  const report = readFileSync(junit, "utf8");
  // Tests that a crash of bun leaves undone are counted as failed, but are not in the report.
  const [, counted] = /^\s*(\d+) fail$/m.exec(output) ?? [];
  const [, reported] = /<testsuites [^>]*failures="(\d+)"/.exec(report) ?? [];
  if (counted !== reported || /\(worker crashed|worker process crashed/.test(output)) return [];
  const suites = report.matchAll(/<testsuite [^>]*file="([^"]+)"[^>]* failures="[1-9]/g);
  return [...new Set([...suites].map(([, file]) => file))];
}

/** Bundles that a script makes once for all tests, as variables; undefined if that fails. */
async function bundleFor(script) {
  const { code, output } = await run([bun, join(root, script)], undefined);
  if (code === 0) return JSON.parse(output.trim().split("\n").at(-1));
  process.stderr.write(output);
  return undefined;
}

/** One PostgreSQL for all workers. If it does not start, each worker that needs one tries to start its own and reports the error. */
function startPostgres() {
  const child = spawn(bun, [join(root, "packages/server/test/support/store/serve-postgres.ts")], {
    cwd: root,
    stdio: ["pipe", "pipe", "inherit"],
  });
  return new Promise((resolve) => {
    child.on("error", () => resolve({ url: undefined, stop() {} }));
    child.on("exit", () => resolve({ url: undefined, stop() {} }));
    child.stdout.on("data", (line) => resolve({ url: String(line).trim(), stop: () => child.stdin.end() }));
  });
}

/** Writes a test run's output without passed tests, and a file's name only if other output follows. */
function withoutPasses(target) {
  let heading = "";
  let isInPass = false;
  return (line) => {
    // The name of a passed test may contain several lines of JSON.
    isInPass = line.startsWith("(pass)") || (isInPass && /^[\s\]}]/.test(line));
    if (line === "" || isInPass) return;
    const isFile = /^\S+\.test\.tsx?:$/.test(line);
    if (isFile || /^ *\d+ pass$/.test(line)) heading = isFile ? `${line}\n` : "";
    if (isFile) return;
    target.write(`${heading}${line}\n`);
    heading = "";
  };
}

/** Runs a command; its output goes to the streams of `shown`, if any, as it comes. */
function run([file, ...args], shown, environment = {}, priority = undefined) {
  const startedAtMs = Date.now();
  return new Promise((resolve) => {
    let output = "";
    const end = (code) =>
      resolve({ code, output, tookMs: Date.now() - startedAtMs, wasShown: shown !== undefined });
    const env = { ...process.env, ...environment };
    const child = spawn(file, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
    if (child.pid !== undefined && priority !== undefined) setPriority(child.pid, priority);
    for (const [stream, target] of [
      [child.stdout, shown?.stdout],
      [child.stderr, shown?.stderr],
    ]) {
      const show = target === undefined ? () => {} : withoutPasses(target);
      createInterface({ input: stream }).on("line", (line) => {
        output += `${line}\n`;
        show(line);
      });
    }
    child.on("error", (error) => {
      output += `${error.message}\n`;
      end(1);
    });
    child.on("close", end);
  });
}
