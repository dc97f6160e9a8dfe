// `npm start`: installs what is missing and runs the server. Signals that reach this process are handed on.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { bun, ensureInstalled, root } from "./ensure-installed.mjs";

ensureInstalled({ forDevelopment: false });

const server = spawn(bun, [join(root, "packages/server/src/main.ts"), "serve", ...process.argv.slice(2)], {
  stdio: "inherit",
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => server.kill(signal));
server.on("error", (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
server.on("exit", (code) => {
  process.exitCode = code ?? 1;
});
