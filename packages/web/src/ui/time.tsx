import { useSyncExternalStore } from "react";
import { exactTime, relativeTime } from "../format/times.ts";

/** A relative time; the exact time in the user's time zone on hover. */
export function Time({ at }: { at: string }) {
  const nowMs = useNow();
  return (
    <time dateTime={at} title={exactTime(at)} className="whitespace-nowrap">
      {relativeTime(at, nowMs)}
    </time>
  );
}

const tickMs = 30_000;

/** The current time in steps of half a minute, which keeps texts such as “2 minutes ago” up to date. */
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
