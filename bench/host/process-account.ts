import { readFileSync } from "node:fs";
import { readProcessTree } from "./process-tree.ts";

// USER_HZ, the unit of /proc/PID/stat, is 100 on every Linux that Bun runs on, whatever the kernel's HZ is.
const tickMs = 10;

/** The kernel scales user + system time to the scheduler's exact run time, so only the rounding to a tick is lost. */
export const readCpuMs = (pid: number): number =>
  readProcessTree(pid).reduce((sum, member) => sum + member.cpuTicks, 0) * tickMs;

/** The processor time of each process by its id, children that have ended included. */
export const readCpuMsOfEach = (pids: readonly number[]): Map<number, number> =>
  new Map(
    pids.flatMap((pid) =>
      readProcessTree(pid).map((member) => [member.pid, member.cpuTicks * tickMs] as const),
    ),
  );

export interface Memory {
  readonly rssBytes: number;
  /** Pages shared by several processes are divided among them, including those of the program file. */
  readonly pssBytes: number;
  /** The kernel's high-water mark since the process started: no sampling, so no peak is missed. */
  readonly peakRssBytes: number;
}

const readKilobytes = (text: string, name: string): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(text)?.[1] ?? 0) * 1024;

export const readMemory = (pid: number): Memory => {
  const sum = { rssBytes: 0, pssBytes: 0, peakRssBytes: 0 };
  for (const member of readProcessTree(pid)) {
    const status = readFileSync(`/proc/${member.pid}/status`, "utf8");
    sum.rssBytes += readKilobytes(status, "VmRSS");
    sum.peakRssBytes += readKilobytes(status, "VmHWM");
    sum.pssBytes += readKilobytes(readFileSync(`/proc/${member.pid}/smaps_rollup`, "utf8"), "Pss");
  }
  return sum;
};
