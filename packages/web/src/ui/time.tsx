import { useSyncExternalStore } from "react";
import { clockTime, exactTime, relativeTime } from "../format/times.ts";

/** A relative time, or the time of day with `isClock`; the exact time in the user's time zone on hover. */
export function Time({ at, isClock = false }: { at: string; isClock?: boolean }) {
  const nowMs = useNow();
  return (
    <time dateTime={at} title={exactTime(at)} className="whitespace-nowrap">
      {isClock ? clockTime(at) : relativeTime(at, nowMs)}
    </time>
  );
}

const tickMs = 30_000;

/** The current time in steps of half a minute, which keeps texts such as “2 minutes ago” up to date. */
export function useNow(): number {
  return useSyncExternalStore(everyTick, currentTickMs);
}

const watchers = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** One timer for all times of a page, which a table has dozens of. */
function everyTick(notify: () => void): () => void {
  watchers.add(notify);
  timer ??= setInterval(() => {
    for (const watcher of watchers) watcher();
  }, tickMs);
  return () => {
    watchers.delete(notify);
    if (watchers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function currentTickMs(): number {
  return Math.ceil(Date.now() / tickMs) * tickMs;
}
