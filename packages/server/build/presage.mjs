#!/usr/bin/env node
// The command `presage` of the package: runs the server's code with the Bun that npm installed beside it.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
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
// Newer Node.js can become another program, so that signals reach it and nothing waits beside it.
if (typeof process.execve === "function" && process.platform !== "win32") {
  process.execve(bun, [bun, ...args], process.env);
}
const server = spawn(bun, args, { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => server.kill(signal));
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
 * The program of Bun's package for this platform. The package `bun` itself would put it in place with an install script,
 * which many machines do not allow.
 */
function findBun() {
  const ofBun = createRequire(createRequire(import.meta.url).resolve("bun/package.json"));
  const platform = { win32: "windows" }[process.platform] ?? process.platform;
  const processor = { arm64: "aarch64" }[process.arch] ?? process.arch;
  const file = process.platform === "win32" ? "bun.exe" : "bun";
  // npm installs only the one for this machine's C library.
  for (const library of ["", "-musl"]) {
    try {
      const manifest = ofBun.resolve(`@oven/bun-${platform}-${processor}${library}/package.json`);
      const path = join(dirname(manifest), "bin", file);
      if (existsSync(path)) return path;
    } catch {
      // Not installed.
    }
  }
}
