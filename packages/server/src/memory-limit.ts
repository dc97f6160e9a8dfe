import { readFileSync } from "node:fs";
import { totalmem } from "node:os";
import { dirname, join } from "node:path";

/** How much memory this process may use: the machine's, or its container's where that has less. */
export function memoryLimitBytes(): number {
  return Math.min(totalmem(), ...cgroupLimits("/sys/fs/cgroup", readText("/proc/self/cgroup") ?? ""));
}

/**
 * The limits of the process's control group and of those above it, in versions 1 and 2. Bun's `process.constrainedMemory()`
 * tells the machine's memory whatever the container has. Inside a container the path in `membership` may be the host's, and
 * the container's own group is at the root.
 */
export function cgroupLimits(root: string, membership: string): number[] {
  return membership.split("\n").flatMap((line) => {
    const [, controllers = "", path = "/"] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (controllers === "") return limitsAbove(root, path, "memory.max");
    if (!controllers.split(",").includes("memory")) return [];
    return limitsAbove(join(root, "memory"), path, "memory.limit_in_bytes");
  });
}

function limitsAbove(root: string, path: string, file: string): number[] {
  // A group without a limit says «max», or in version 1 a number beyond every machine.
  const limit = Number(readText(join(root, path, file)) ?? Number.NaN);
  const own = Number.isFinite(limit) && limit > 0 ? [limit] : [];
  return path === "/" || path === "" ? own : [...own, ...limitsAbove(root, dirname(path), file)];
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return undefined;
  }
}
