import { join } from "node:path";
import { expectEventually } from "../eventually.ts";
import { freePort } from "../free-port.ts";
import { killAfterTests } from "../presage/child-processes.ts";

/** Starts `light-upstream.ts` in a separate process and waits until it responds. */
export async function startLightUpstream() {
  const port = await freePort();
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "light-upstream.ts"), String(port)]);
  killAfterTests(child);
  const url = `http://127.0.0.1:${port}/v1`;
  const isUp = () =>
    fetch(`${url}/models`).then(
      ({ ok }) => ok,
      () => false,
    );
  await expectEventually(isUp, true);
  return {
    url,
    async stop() {
      child.kill();
      await child.exited;
    },
  };
}
