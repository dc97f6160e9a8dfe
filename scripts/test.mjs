// `npm test`: runs every check, one after the other, even if one fails, so that one run reports all problems.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { buildDashboard } from "./build-dashboard.mjs";
import { bun, ensureInstalled, root } from "./ensure-installed.mjs";

await ensureInstalled({ forDevelopment: true });
buildDashboard();

const tool = (name) => join(root, "node_modules", ".bin", name);
// Most tests spend their time waiting, so more of them run at once than there are processors.
const workers = ["--parallel=4", "--no-isolate"];
const postgres = await startPostgres();
const checks = [
  { name: "format, lint and import rules (biome)", command: [tool("biome"), "check", "."] },
  { name: "types (tsc)", command: [tool("tsc"), "--noEmit", "--project", root] },
  {
    name: "types of the dashboard (tsc)",
    command: [tool("tsc"), "--noEmit", "--project", join(root, "packages/web")],
  },
  { name: "unused code and dependencies (knip)", command: [tool("knip")] },
  {
    name: "tests (bun test)",
    command: [bun, "test", "--timeout", "120000", ...workers, ...process.argv.slice(2)],
  },
];

const failed = [];
for (const { name, command } of checks) {
  const startedAtMs = Date.now();
  process.stdout.write(`\n== ${name}\n`);
  const { code, output } = await run(command);
  const skipped = /^\s*([1-9]\d*) (skip|todo)\b/m.exec(output);
  if (skipped !== null) process.stdout.write(`${skipped[0].trim()}: see above\n`);
  if (code !== 0 || (skipped !== null && process.env.CI)) failed.push(name);
  process.stdout.write(`== ${((Date.now() - startedAtMs) / 1000).toFixed(1)} s\n`);
}
postgres.stop();
process.stdout.write(failed.length === 0 ? "\nAll checks passed.\n" : `\nFailed: ${failed.join("; ")}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;

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

function run([file, ...args]) {
  return new Promise((resolve) => {
    let output = "";
    const env = {
      ...process.env,
      ...(postgres.url === undefined ? {} : { PRESAGE_TEST_POSTGRES: postgres.url }),
    };
    const child = spawn(file, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
    for (const [stream, target] of [
      [child.stdout, process.stdout],
      [child.stderr, process.stderr],
    ]) {
      const show = withoutPasses(target);
      createInterface({ input: stream }).on("line", (line) => {
        output += `${line}\n`;
        show(line);
      });
    }
    child.on("error", (error) => resolve({ code: 1, output: error.message }));
    child.on("close", (code) => resolve({ code, output }));
  });
}
