import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { bun, findFreePort, type ProcessGroup, programFile, untilTrue } from "./processes.ts";

interface UpstreamCounts {
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
  await untilTrue("the mock upstream did not start", { everyMs: 10, timeoutMs: 5_000 }, () =>
    upstream.set(0).then(
      () => true,
      () => false,
    ),
  );
  return upstream;
};

/** wrk exits without waiting for its last responses; its requests in progress are finished and counted first. */
export const waitUntilQuiet = async (upstream: Upstream, quietForMs = 60): Promise<number> => {
  let before = await upstream.read();
  for (;;) {
    await Bun.sleep(quietForMs);
    const now = await upstream.read();
    if (now.inFlight === 0 && now.answered === before.answered) return now.answered;
    before = now;
  }
};
