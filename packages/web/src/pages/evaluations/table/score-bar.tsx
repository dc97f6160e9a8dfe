import { formatScore } from "../../../format/format-number.ts";

/** A score from 0 to 1 as a number, and as a length beside it. */
export function ScoreBar({ score }: { score: number | null }) {
  return (
    <span className="flex items-center justify-end gap-2">
      {score !== null && (
        <span aria-hidden className="h-1 w-10 overflow-hidden rounded-full bg-line">
          <span className="block h-full rounded-full bg-ink-3" style={{ width: `${score * 100}%` }} />
        </span>
      )}
      <span className="w-11 text-right tabular-nums">{formatScore(score)}</span>
    </span>
  );
}
