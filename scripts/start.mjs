// `npm start`: installs missing packages, builds the dashboard and the server, and runs it. Forwards signals.
import { spawn } from "node:child_process";
import { buildDashboard } from "./build-dashboard.mjs";
import { buildServer } from "./build-server.mjs";
import { bun, ensureInstalled } from "./ensure-installed.mjs";

await ensureInstalled({ forDevelopment: false });
await buildDashboard();

const server = spawn(bun, [buildServer(), "serve", ...process.argv.slice(2)], { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => server.kill(signal));
// npm sends signals to the shell that runs this process, and the shell does not always forward them.
const { ppid } = process;
if (process.env.npm_lifecycle_event !== undefined) {
  const watch = setInterval(() => {
    if (process.ppid === ppid) return;
    clearInterval(watch);
    server.kill("SIGTERM");
  }, 250);
  watch.unref();
}
server.on("error", (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
server.on("exit", (code) => {
  process.exitCode = code ?? 1;
});
