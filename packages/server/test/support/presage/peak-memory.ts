import type { SpawnedPresage } from "./spawn-presage.ts";

/** The peak memory of a server's process, in bytes. Linux only. */
export async function peakMemory({ pid }: Pick<SpawnedPresage, "pid">): Promise<number> {
  const status = await Bun.file(`/proc/${pid}/status`).text();
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
}
