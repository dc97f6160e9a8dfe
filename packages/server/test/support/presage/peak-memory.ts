import type { SpawnedPresage } from "./spawn-presage.ts";

/** The most memory in bytes that a server's process has had. Only Linux tells. */
export async function peakMemory({ pid }: Pick<SpawnedPresage, "pid">): Promise<number> {
  const status = await Bun.file(`/proc/${pid}/status`).text();
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
}
