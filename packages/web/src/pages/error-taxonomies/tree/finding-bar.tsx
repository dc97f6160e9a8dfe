import { formatCount, formatShare } from "../../../format/format-number.ts";

interface FindingBarProps {
  count: number;
  /** Evaluations that came to a verdict. */
  evaluated: number;
  /** An evaluation may be counted under several kinds of a category: their sum is no share. */
  isCategory: boolean;
}

/** How often an error was found, as a figure and as a share of the evaluations. */
export function FindingBar({ count, evaluated, isCategory }: FindingBarProps) {
  const share = evaluated === 0 ? 0 : count / evaluated;
  return (
    <div className="flex shrink-0 items-center gap-3 text-xs tabular-nums">
      {!isCategory && (
        <>
          <span aria-hidden className="hidden h-1.5 w-32 overflow-hidden rounded-full bg-sunken sm:block">
            <span className="block h-full rounded-full bg-fail" style={{ width: `${share * 100}%` }} />
          </span>
          <span className="w-14 text-right text-ink-2">{count === 0 ? "" : formatShare(share)}</span>
        </>
      )}
      <span className={count === 0 ? "w-12 text-right text-ink-3" : "w-12 text-right font-medium"}>
        {formatCount(count)}
        <span className="sr-only"> found</span>
      </span>
    </div>
  );
}
