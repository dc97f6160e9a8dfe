#!/usr/bin/env node
// The command `presage` of the package: runs the server's code with the Bun that npm installed beside it.
import { spawn } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const main = join(dirname(fileURLToPath(import.meta.url)), "..", "server", "main.js");

const bun = findBun();
if (bun === undefined) {
  process.stderr.write(
    `Bun for ${process.platform}-${process.arch} is not installed. Install again, with optional dependencies (no --omit=optional).\n`,
  );
  process.exit(1);
}
const args = [main, ...process.argv.slice(2)];
const isUnderNpm = process.env.npm_lifecycle_event !== undefined;
// Newer Node.js can become another program, so that signals reach it and nothing waits beside it.
if (typeof process.execve === "function" && process.platform !== "win32" && !isUnderNpm) {
  process.execve(bun, [bun, ...args], process.env);
}
const server = spawn(bun, args, { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => server.kill(signal));
// npx forwards no signals: if one ends it, nothing else would end the server.
const { ppid } = process;
if (isUnderNpm) {
  const watch = setInterval(() => {
    if (process.ppid === ppid) return;
    clearInterval(watch);
    server.kill("SIGTERM");
  }, 250);
  watch.unref();
}
server.on("error", (error) => {
  process.stderr.write(`Bun does not start: ${error.message}\n`);
  process.exitCode = 1;
});
server.on("exit", (code, signal) => {
  if (signal === null) process.exitCode = code ?? 1;
  else endAs(signal);
});

/** Ends as the server did, so that a shell sees the same. */
function endAs(signal) {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

/**
 * Bun's program. The install script of the package `bun` moves it there; where npm runs no install scripts, it is still in the
 * package for this platform.
 */
function findBun() {
  const manifest = createRequire(import.meta.url).resolve("bun/package.json");
  const installed = join(dirname(manifest), "bin", "bun.exe");
  // Before the install script it is a short placeholder.
  if ((statSync(installed, { throwIfNoEntry: false })?.size ?? 0) > 1_000_000) return installed;
  const platform = { win32: "windows" }[process.platform] ?? process.platform;
  const processor = { arm64: "aarch64" }[process.arch] ?? process.arch;
  // npm installs only the one for this machine's C library.
  for (const library of ["", "-musl"]) {
    try {
      const ofPlatform = `@oven/bun-${platform}-${processor}${library}/package.json`;
      const folder = join(dirname(createRequire(manifest).resolve(ofPlatform)), "bin");
      const path = join(folder, process.platform === "win32" ? "bun.exe" : "bun");
      if (existsSync(path)) return path;
    } catch {
      // Not installed.
    }
  }
}
