import { clsx } from "clsx";
import type { ReactNode } from "react";
import { ExplainedName } from "../../ui/charts/plot/explained-name.tsx";
import { Explained } from "../../ui/overlay/explained.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import type { Change } from "./compare.ts";

interface StatProps {
  label: string;
  /** What the figure is. */
  explanation: string;
  /** Undefined while loading. */
  value: string | undefined;
  /** What the value is, in full: shown where it is pointed at or focused. */
  exact?: string | undefined;
  change?: Change | undefined;
  /** A line below the value. */
  children?: ReactNode;
}

/** One figure. Its size stays the same while loading. */
export function Stat({ label, explanation, value, exact, change, children }: StatProps) {
  return (
    <div className="flex min-w-0 flex-col gap-0.5 bg-surface px-4 py-3">
      <dt className="text-xs text-ink-3">
        <ExplainedName name={label} explanation={explanation} />
      </dt>
      <dd className="flex min-h-7 items-baseline gap-2">
        {value === undefined ? (
          <Skeleton className="h-5 w-20 self-center" />
        ) : (
          <Explained text={exact} className="truncate text-lg font-semibold tracking-tight tabular-nums">
            {value}
          </Explained>
        )}
        {change !== undefined && (
          <Explained
            text={change.long}
            className={clsx(
              "text-xs whitespace-nowrap tabular-nums",
              change.isGood === undefined && "text-ink-3",
              change.isGood === true && "text-pass",
              change.isGood === false && "text-fail",
            )}
          >
            <span aria-hidden>{change.short}</span>
            <span className="sr-only">{change.long}</span>
          </Explained>
        )}
      </dd>
      <dd className="h-4.5 truncate text-xs text-ink-2 tabular-nums">{value !== undefined && children}</dd>
    </div>
  );
}
