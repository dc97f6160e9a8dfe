import { join } from "node:path";
import { freePort } from "../../server/test/support/free-port.ts";

const serverMain = join(import.meta.dir, "../../server/src/main.ts");
const shiftedClock = join(import.meta.dir, "shifted-clock.ts");
const startTimeoutMs = 120_000;

export interface RunningServer {
  url: string;
  /** Signs in one browser, once. */
  signInAddress: string;
  stop(): Promise<void>;
}

/** Starts a server in its own process, with a shifted clock. */
export async function startServer(
  environment: Record<string, string>,
  clockShiftMs: number,
): Promise<RunningServer> {
  const port = await freePort();
  const child = Bun.spawn([process.execPath, "--preload", shiftedClock, serverMain, "serve"], {
    env: {
      PATH: process.env.PATH ?? "",
      PRESAGE_PORT: String(port),
      PRESAGE_LOG_LEVEL: "warn",
      PRESAGE_CLOCK_SHIFT_MS: String(clockShiftMs),
      ...environment,
    },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  let printed = "";
  const reading = (async () => {
    for await (const chunk of child.stderr.pipeThrough(new TextDecoderStream())) printed += chunk;
  })();
  const url = `http://127.0.0.1:${port}`;
  const deadlineMs = Date.now() + startTimeoutMs;
  let signInAddress: string | undefined;
  while (signInAddress === undefined) {
    if (child.exitCode !== null || Date.now() > deadlineMs)
      throw new Error(`The server did not start:\n${printed}`);
    await Bun.sleep(50);
    signInAddress = /http\S+\/sign-in#\S+/.exec(printed)?.[0];
  }
  return {
    url,
    signInAddress,
    async stop() {
      child.kill("SIGTERM");
      await child.exited;
      await reading;
    },
  };
}
