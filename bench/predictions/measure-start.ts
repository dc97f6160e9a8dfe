import { join } from "node:path";
import { median } from "../median.ts";
import { workDirectory } from "../paths.ts";
import type { ProcessGroup } from "../processes.ts";
import { type StartedName, startTarget } from "../targets/start-target.ts";

export interface StartTimes {
  /** With nothing on disk: Presage creates its database. */
  readonly firstMs: number;
  readonly againMs: number;
}

/** From the spawn until it reports that it is ready. Each run has its own directory and starts in it twice. */
export const measureStart = async (
  group: ProcessGroup,
  upstreamOrigin: string,
  name: StartedName,
  runs: number,
): Promise<StartTimes> => {
  const startOnce = async (run: number): Promise<number> => {
    const directory = join(workDirectory, `${name}-start-${run}`);
    const { process, readyAfterMs } = await startTarget(group, name, upstreamOrigin, directory);
    await group.stop(process);
    return readyAfterMs;
  };
  const first: number[] = [];
  const again: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    first.push(await startOnce(run));
    again.push(await startOnce(run));
  }
  const times = { firstMs: median(first), againMs: median(again) };
  process.stdout.write(
    `start  ${name}: ${times.firstMs.toFixed(0)} ms, again ${times.againMs.toFixed(0)} ms\n`,
  );
  return times;
};
