import { spawnSync } from "node:child_process";
import { root } from "./ensure-installed.mjs";

/** Runs a command in the repository; if it fails, this process ends. */
export function runOrExit(command, args, { quiet = false } = {}) {
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    stdio: ["ignore", quiet ? "ignore" : "inherit", "inherit"],
    shell: process.platform === "win32",
  });
  if (status === 0) return;
  process.stderr.write(`${error?.message ?? `${command} ${args.join(" ")} failed; see above.`}\n`);
  process.exit(1);
}
