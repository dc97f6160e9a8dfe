import type { Client } from "./clients.ts";
import { type Lateness, startUnsolicitedUpstream } from "./unsolicited-upstream.ts";

export interface Misdelivered {
  lateness: Lateness;
  pauseMs: number;
  isChunked: boolean;
  /** Of `calls`, those that got another call's response, and those that got none. */
  wrong: number;
  failed: number;
  connections: number;
}

export const calls = 100;

/** Makes one call after the other and counts which get another call's response. */
export const countMisdelivered = async (
  { send }: Client,
  { lateness, pauseMs, isChunked }: Pick<Misdelivered, "lateness" | "pauseMs" | "isChunked">,
): Promise<Misdelivered> => {
  const upstream = await startUnsolicitedUpstream(lateness, isChunked);
  let [wrong, failed] = [0, 0];
  for (let call = 0; call < calls; call++) {
    const body = `call ${call}`;
    const response = await send(upstream.url, body).catch(() => undefined);
    if (response === undefined) failed += 1;
    else if (response !== body) wrong += 1;
    if (pauseMs > 0) await Bun.sleep(pauseMs);
  }
  upstream.stop();
  return { lateness, pauseMs, isChunked, wrong, failed, connections: upstream.connections() };
};
