import { existsSync, readFileSync } from "node:fs";

/** Two sockets for each of 5,000 predictions, one to the client and one to the upstream, and some room. */
const openFilesNeeded = 12_000;

const openFilesLimit = (): number => {
  const limit = /^Max open files\s+\S+\s+(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
  return limit === "unlimited" ? Number.POSITIVE_INFINITY : Number(limit);
};

/** Reasons why the bench cannot run here, one sentence each; empty if it can. */
export const findWhatIsMissing = (): string[] => {
  if (process.platform !== "linux" || !existsSync("/proc/self/smaps_rollup")) {
    return ["The bench reads processor time and memory from /proc; run it on Linux."];
  }
  const missing: string[] = [];
  const programs = ["nginx", "wrk"].filter((program) => Bun.which(program) === null);
  if (programs.length > 0) {
    missing.push(`Not installed: ${programs.join(", ")}. On Debian: apt-get install nginx-light wrk`);
  }
  if (Bun.which("node") === null || Bun.which("npm") === null) {
    missing.push("Not installed: node and npm, which Portkey's gateway needs.");
  }
  if (openFilesLimit() < openFilesNeeded) {
    missing.push(`At most ${openFilesLimit()} open files are allowed; run: ulimit -n ${openFilesNeeded}`);
  }
  return missing;
};
