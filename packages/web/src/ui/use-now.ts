import { useSyncExternalStore } from "react";

const tickMs = 30_000;

/** The present in milliseconds, in steps of half a minute: words like «2 minutes ago» stay true. */
export function useNow(): number {
  return useSyncExternalStore(everyTick, currentTickMs);
}

function everyTick(notify: () => void): () => void {
  const timer = setInterval(notify, tickMs);
  return () => clearInterval(timer);
}

function currentTickMs(): number {
  return Math.ceil(Date.now() / tickMs) * tickMs;
}
