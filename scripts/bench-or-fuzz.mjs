// `npm run bench` and `npm run fuzz`: make sure that Bun is installed and run the bench or the fuzzer with it. Forward signals.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { bun, ensureInstalled, root } from "./ensure-installed.mjs";

const [folder, ...args] = process.argv.slice(2);
await ensureInstalled({ forDevelopment: folder === "fuzz" });

// The program, not the shell, configures the servers that it starts: no PRESAGE_ variable is passed on except the browser's path, and
// no proxy is used for loopback.
const inherited = Object.entries(process.env).filter(
  ([name]) => name === "PRESAGE_TEST_CHROMIUM" || !name.startsWith("PRESAGE_"),
);
const program = spawn(bun, [join(root, folder, "main.ts"), ...args], {
  stdio: "inherit",
  env: { ...Object.fromEntries(inherited), NO_PROXY: "127.0.0.1", no_proxy: "127.0.0.1" },
});
// Ctrl-C in a terminal reaches both processes; waiting lets the program stop its own before the prompt returns.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => program.kill("SIGTERM"));
program.on("error", (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
program.on("exit", (code) => {
  process.exitCode = code ?? 1;
});
