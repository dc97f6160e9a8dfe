import { clsx } from "clsx";
import type { ReactNode } from "react";

const looks = {
  /** Beside each other on wide screens, in the two columns of the list. */
  row: ["sm:col-span-2 sm:grid sm:grid-cols-subgrid", "text-ink-3", "wrap-anywhere"],
  /** The same with lines between the rows. */
  lined: [
    "col-span-2 grid grid-cols-subgrid border-t border-line *:px-3 *:py-1.5 first:border-t-0",
    "max-w-40 truncate text-ink-3",
    "flex items-center gap-2",
  ],
  stacked: ["min-w-0", "text-xs text-ink-3", "truncate tabular-nums"],
  inline: ["flex gap-1", "shrink-0 text-ink-3", "text-ink-2"],
} as const;

interface FactProps {
  name: ReactNode;
  look: keyof typeof looks;
  children: ReactNode;
}

/** One name and its value in a description list. */
export function Fact({ name, look, children }: FactProps) {
  const [rowClass, nameClass, valueClass] = looks[look];
  return (
    <div className={rowClass}>
      <dt className={nameClass}>{name}</dt>
      <dd className={clsx("min-w-0", valueClass)}>{children}</dd>
    </div>
  );
}
