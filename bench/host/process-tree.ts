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
    return undefined; // It has exited since it was listed.
  }
  // The name in parentheses may contain spaces; the numbered fields follow it, with the state as field 3.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const field = (number: number): number => Number(fields[number - 3]);
  return { pid, parentPid: field(4), cpuTicks: field(14) + field(15) + field(16) + field(17) };
};

/** The process and all its descendants: nginx works in a child process, and a wrapper may hide the real one. */
export const readProcessTree = (rootPid: number): ProcessStat[] => {
  const everyone = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readStat(Number(name)) ?? []);
  const tree = everyone.filter((entry) => entry.pid === rootPid);
  for (const member of tree) tree.push(...everyone.filter((entry) => entry.parentPid === member.pid));
  if (tree.length === 0) throw new Error(`process ${rootPid} is gone`);
  return tree;
};
