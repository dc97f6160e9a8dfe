import { exactTime, relativeTime } from "../format/format-time.ts";
import { useNow } from "./use-now.ts";

/** A relative time; the exact time in the user's time zone on hover. */
export function Time({ at }: { at: string }) {
  const nowMs = useNow();
  return (
    <time dateTime={at} title={exactTime(at)} className="whitespace-nowrap">
      {relativeTime(at, nowMs)}
    </time>
  );
}
