// `npm run fuzz`: makes sure that Bun is installed and runs the fuzzer with it. Forwards signals.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { bun, ensureInstalled, root } from "./ensure-installed.mjs";

await ensureInstalled({ forDevelopment: true });

// The fuzzer configures the server that it starts, so the shell's PRESAGE_ variables are not passed on.
const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("PRESAGE_"));
const fuzz = spawn(bun, [join(root, "fuzz", "main.ts"), ...process.argv.slice(2)], {
  stdio: "inherit",
  env: { ...Object.fromEntries(inherited), NO_PROXY: "127.0.0.1", no_proxy: "127.0.0.1" },
});
// Ctrl-C in a terminal reaches both processes; waiting lets the fuzzer stop its processes before the prompt returns.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => fuzz.kill("SIGTERM"));
fuzz.on("error", (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
fuzz.on("exit", (code) => {
  process.exitCode = code ?? 1;
});
