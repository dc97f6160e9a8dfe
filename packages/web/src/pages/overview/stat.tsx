import { clsx } from "clsx";
import type { ReactNode } from "react";
import { Skeleton } from "../../ui/skeleton.tsx";
import type { Change } from "./compare.ts";

interface StatProps {
  label: string;
  /** Undefined while loading. */
  value: string | undefined;
  /** On hover, where the value is rounded. */
  exact?: string | undefined;
  change?: Change | undefined;
  /** A line below the value. */
  children?: ReactNode;
}

/** One figure. Its size stays the same while loading. */
export function Stat({ label, value, exact, change, children }: StatProps) {
  return (
    <div className="flex min-w-0 flex-col gap-0.5 bg-surface px-4 py-3">
      <dt className="text-xs text-ink-3">{label}</dt>
      <dd className="flex min-h-7 items-baseline gap-2">
        {value === undefined ? (
          <Skeleton className="h-5 w-20 self-center" />
        ) : (
          <span title={exact} className="truncate text-lg font-semibold tracking-tight tabular-nums">
            {value}
          </span>
        )}
        {change !== undefined && (
          <span
            title={change.long}
            className={clsx(
              "text-xs whitespace-nowrap tabular-nums",
              change.isGood === undefined && "text-ink-3",
              change.isGood === true && "text-pass",
              change.isGood === false && "text-fail",
            )}
          >
            <span aria-hidden>{change.short}</span>
            <span className="sr-only">{change.long}</span>
          </span>
        )}
      </dd>
      <dd className="h-4.5 truncate text-xs text-ink-2 tabular-nums">{value !== undefined && children}</dd>
    </div>
  );
}
