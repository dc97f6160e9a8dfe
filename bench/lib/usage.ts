import { readdirSync, readFileSync } from "node:fs";

export interface ProcessStat {
  readonly pid: number;
  readonly parentPid: number;
  /** User and system time of the process and the children that it has waited for. */
  readonly cpuTicks: number;
}

const readStat = (pid: number): ProcessStat | undefined => {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return undefined; // The process has exited since it was listed.
  }
  // The name in parentheses may contain spaces; the numbered fields follow it, with the state as field 3.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const field = (number: number): number => Number(fields[number - 3]);
  return { pid, parentPid: field(4), cpuTicks: field(14) + field(15) + field(16) + field(17) };
};

/** The process and all its descendants: nginx works in a child process, and a wrapper may hide the real one. */
const readProcessTree = (rootPid: number): ProcessStat[] => {
  const everyone = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readStat(Number(name)) ?? []);
  const tree = everyone.filter((entry) => entry.pid === rootPid);
  for (const member of tree) tree.push(...everyone.filter((entry) => entry.parentPid === member.pid));
  if (tree.length === 0) throw new Error(`process ${rootPid} is gone`);
  return tree;
};

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

/** What a process's main thread ran, and how long it was ready and waited for a processor. */
export const readMainThread = (pid: number): { readonly ranMs: number; readonly waitedMs: number } => {
  const [ran = 0, waited = 0] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8")
    .split(" ")
    .map(Number);
  return { ranMs: ran / 1e6, waitedMs: waited / 1e6 };
};

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
