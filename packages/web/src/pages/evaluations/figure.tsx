import { clsx } from "clsx";
import type { ReactNode } from "react";

/** One figure of the summary, with its name before or after it. */
export function Figure({
  name,
  isAfter = false,
  children,
}: {
  name: string;
  isAfter?: boolean;
  children: ReactNode;
}) {
  return (
    <span className={clsx("inline-flex items-baseline gap-1.5", isAfter && "flex-row-reverse")}>
      <span className="text-ink-2">{name}</span>
      <span className="font-semibold tabular-nums">{children}</span>
    </span>
  );
}
