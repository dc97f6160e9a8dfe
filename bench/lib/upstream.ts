import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { bun, findFreePort, type ProcessGroup, programFile } from "./processes.ts";

export interface UpstreamCounts {
  readonly answered: number;
  readonly inFlight: number;
  readonly peakInFlight: number;
  readonly lastBody: string;
}

export interface Upstream {
  readonly process: Subprocess;
  readonly origin: string;
  /** Sets its delay and resets its counts. With `keepBody`, `read` returns the latest request. */
  set(delayMs: number, keepBody?: boolean): Promise<void>;
  read(): Promise<UpstreamCounts>;
}

export const startUpstream = async (group: ProcessGroup, directory: string): Promise<Upstream> => {
  mkdirSync(directory, { recursive: true });
  const port = await findFreePort();
  const origin = `http://127.0.0.1:${port}`;
  const process = group.startServer({
    argv: [bun, programFile("mock-upstream.ts"), `${port}`],
    logFile: join(directory, "output.log"),
  });
  const upstream: Upstream = {
    process,
    origin,
    set: async (delayMs, keepBody = false) => {
      await (await fetch(`${origin}/control/set?delayMs=${delayMs}&keepBody=${keepBody}`)).json();
    },
    read: async () => (await (await fetch(`${origin}/control/read`)).json()) as UpstreamCounts,
  };
  for (let attempt = 0; attempt < 500; attempt += 1) {
    const ready = await upstream.set(0).then(
      () => true,
      () => false,
    );
    if (ready) return upstream;
    await Bun.sleep(10);
  }
  throw new Error("the mock upstream did not start");
};
