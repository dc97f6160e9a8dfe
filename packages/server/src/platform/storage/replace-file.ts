import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";

const suffix = ".partial-";

/**
 * Has `write` fill an empty file beside `path`, readable by its owner only, and then gives it this name. Whenever the process or the
 * machine stops, there is what was there before or the whole new file. What an earlier process left of its own is removed.
 */
export async function replaceFile(path: string, write: (partial: string) => Promise<void>): Promise<void> {
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true });
  removeLeftovers(path);
  const partial = `${path}${suffix}${process.pid}`;
  closeSync(openSync(partial, "wx", 0o600));
  try {
    await write(partial);
    flush(partial);
    renameSync(partial, path);
    flush(folder);
  } finally {
    for (const file of [partial, `${partial}-wal`, `${partial}-shm`, `${partial}-journal`])
      rmSync(file, { force: true });
  }
}

function removeLeftovers(path: string): void {
  const start = basename(path) + suffix;
  for (const name of readdirSync(dirname(path)).filter((each) => each.startsWith(start))) {
    const pid = Number.parseInt(name.slice(start.length), 10);
    if (pid === process.pid || !isRunning(pid)) rmSync(join(dirname(path), name), { force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function flush(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
