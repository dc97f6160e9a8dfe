import { join } from "node:path";
import { expectEventually } from "../eventually.ts";
import { freePort } from "../free-port.ts";
import { killAfterTests } from "../presage/child-processes.ts";

export interface LightUpstream {
  url: string;
  /** The `system_fingerprint` of its completions. */
  port: number;
  /** Starts it again, at the same address. */
  start(): Promise<void>;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** Starts `light-upstream.ts` in a separate process and waits until it responds. */
export async function startLightUpstream({ delayMs = 0 } = {}): Promise<LightUpstream> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/v1`;
  const isUp = () =>
    fetch(`${url}/models`).then(
      ({ ok }) => ok,
      () => false,
    );
  const spawn = () => {
    const command = [
      process.execPath,
      join(import.meta.dir, "light-upstream.ts"),
      String(port),
      String(delayMs),
    ];
    const child = Bun.spawn(command);
    killAfterTests(child);
    return child;
  };
  let child = spawn();
  await expectEventually(isUp, true);
  return {
    url,
    port,
    async start() {
      child = spawn();
      await expectEventually(isUp, true);
    },
    async stop(signal) {
      child.kill(signal);
      await child.exited;
    },
  };
}
