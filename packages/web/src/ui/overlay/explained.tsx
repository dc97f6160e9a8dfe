import { clsx } from "clsx";
import type { ReactNode } from "react";
import { Tooltip } from "./tooltip.tsx";

interface ExplainedProps {
  /** What a figure is, and of what. Absent: nothing is added. */
  text: ReactNode;
  className?: string;
  children: ReactNode;
}

/** A figure that says what it is where it is pointed at or focused. */
export function Explained({ text, className, children }: ExplainedProps) {
  if (text === undefined) return <span className={className}>{children}</span>;
  return (
    <Tooltip text={text}>
      <span tabIndex={0} className={clsx("cursor-help rounded-sm", className)}>
        {children}
      </span>
    </Tooltip>
  );
}
