import type { Client } from "./clients.ts";
import { type Lateness, startUnaskedUpstream } from "./unasked-upstream.ts";

export interface Misdelivered {
  lateness: Lateness;
  pauseMs: number;
  isChunked: boolean;
  /** Calls that got another's answer, and calls that got none, of `calls`. */
  wrong: number;
  failed: number;
  connections: number;
}

export const calls = 100;

/** Asks one call after the other and counts whose answers they get. */
export const countMisdelivered = async (
  { ask }: Client,
  { lateness, pauseMs, isChunked }: Pick<Misdelivered, "lateness" | "pauseMs" | "isChunked">,
): Promise<Misdelivered> => {
  const upstream = await startUnaskedUpstream(lateness, isChunked);
  let [wrong, failed] = [0, 0];
  for (let call = 0; call < calls; call++) {
    const body = `call ${call}`;
    const answer = await ask(upstream.url, body).catch(() => undefined);
    if (answer === undefined) failed += 1;
    else if (answer !== body) wrong += 1;
    if (pauseMs > 0) await Bun.sleep(pauseMs);
  }
  upstream.stop();
  return { lateness, pauseMs, isChunked, wrong, failed, connections: upstream.connections() };
};
