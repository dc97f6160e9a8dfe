// `npm run bench`: makes sure that Bun is installed and runs the bench with it. Forwards signals.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { bun, ensureInstalled, root } from "./ensure-installed.mjs";

await ensureInstalled({ forDevelopment: false });

// The bench, not the shell, configures what it measures: no PRESAGE_ variable is passed on except the browser's path, and no
// proxy is used for loopback.
const inherited = Object.entries(process.env).filter(
  ([name]) => name === "PRESAGE_TEST_CHROMIUM" || !name.startsWith("PRESAGE_"),
);
const bench = spawn(bun, [join(root, "bench", "main.ts"), ...process.argv.slice(2)], {
  stdio: "inherit",
  env: { ...Object.fromEntries(inherited), NO_PROXY: "127.0.0.1", no_proxy: "127.0.0.1" },
});
// Ctrl-C in a terminal reaches both processes; waiting lets the bench stop its processes before the prompt returns.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => bench.kill("SIGTERM"));
bench.on("error", (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
bench.on("exit", (code) => {
  process.exitCode = code ?? 1;
});
