// `npm run bench` needs nothing but Node: it makes sure that Bun is installed, then hands over to it.
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const bun = fileURLToPath(new URL("../node_modules/.bin/bun", import.meta.url));

if (!existsSync(bun)) {
  const install = spawnSync("npm", ["ci"], { cwd: root, stdio: "inherit" });
  if (install.status !== 0) process.exit(install.status ?? 1);
}

// What is measured is configured by the bench, not by the shell: no PRESAGE_ variable of its own, no proxy before loopback.
const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("PRESAGE_"));
const env = { ...Object.fromEntries(inherited), NO_PROXY: "127.0.0.1", no_proxy: "127.0.0.1" };
const bench = spawn(bun, ["bench/main.ts", ...process.argv.slice(2)], { cwd: root, stdio: "inherit", env });
// The terminal sends Ctrl-C to both; waiting lets the bench stop what it started before the prompt returns.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => bench.kill("SIGTERM"));
bench.on("exit", (code, signal) => process.exit(code ?? 128 + (signal ? constants.signals[signal] : 0)));
