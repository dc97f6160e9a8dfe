import { existsSync, readFileSync } from "node:fs";

/** One end at the caller and one at the upstream for each of 5,000 predictions, and some room. */
const openFilesNeeded = 12_000;

const openFilesLimit = (): number => {
  const limit = /^Max open files\s+\S+\s+(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
  return limit === "unlimited" ? Number.POSITIVE_INFINITY : Number(limit);
};

/** What keeps the bench from running here, one sentence each; empty when it can run. */
export const findWhatIsMissing = (): string[] => {
  if (process.platform !== "linux" || !existsSync("/proc/self/smaps_rollup")) {
    return ["The bench reads processor time and memory from Linux' /proc; run it on Linux."];
  }
  const missing: string[] = [];
  const programs = ["nginx", "wrk"].filter((program) => Bun.which(program) === null);
  if (programs.length > 0) {
    missing.push(`Not installed: ${programs.join(", ")}. On Debian: apt-get install nginx-light wrk`);
  }
  if (Bun.which("node") === null || Bun.which("npm") === null) {
    missing.push("Not installed: node and npm, which Portkey's gateway runs on.");
  }
  if (openFilesLimit() < openFilesNeeded) {
    missing.push(`At most ${openFilesLimit()} open files are allowed; run: ulimit -n ${openFilesNeeded}`);
  }
  return missing;
};
