import type { Run } from "@presage/sdk";
import { formatCount } from "../../format/numbers.ts";

/** How much of a run is done, the failed part marked. */
export function ProgressBar({ progress: { samples, evaluated, failed } }: Pick<Run, "progress">) {
  const share = (count: number) => `${samples === 0 ? 0 : (100 * count) / samples}%`;
  return (
    <span
      role="progressbar"
      aria-label="Progress"
      aria-valuemin={0}
      aria-valuemax={samples}
      aria-valuenow={evaluated}
      aria-valuetext={`${formatCount(evaluated)} of ${formatCount(samples)}`}
      className="flex h-1.5 w-full overflow-hidden rounded-full bg-sunken"
    >
      <span className="bg-accent transition-[width]" style={{ width: share(evaluated - failed) }} />
      <span className="bg-fail transition-[width]" style={{ width: share(failed) }} />
    </span>
  );
}
