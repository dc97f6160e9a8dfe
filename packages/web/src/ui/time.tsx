import { useSyncExternalStore } from "react";
import { clockTime, exactTime, listedTime, relativeTime } from "../format/times.ts";

const looks = { ago: relativeTime, clock: clockTime, listed: listedTime };

/** How long ago a time is, or as `look` says; the exact time in the user's time zone on hover. */
export function Time({ at, look = "ago" }: { at: string; look?: keyof typeof looks }) {
  const nowMs = useNow();
  return (
    <time dateTime={at} title={exactTime(at)} className="whitespace-nowrap">
      {looks[look](at, nowMs)}
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
