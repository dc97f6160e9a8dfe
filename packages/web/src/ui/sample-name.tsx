import type { ReactNode } from "react";
import { InlineText } from "./untrusted-text/inline-text.tsx";

/** A sample's id in little room: of a long one the end, mostly the step, is what differs from the row above. */
export function SampleName({ id, children }: { id: string; children?: ReactNode }) {
  const end = id.lastIndexOf("/");
  const isSplit = end > 0 && id.length - end <= longestEnd;
  return (
    <span title={id} className="flex min-w-0 font-mono text-xs text-ink">
      <span className="truncate">
        <InlineText text={isSplit ? id.slice(0, end) : id} />
      </span>
      <span className="shrink-0">
        {isSplit && <InlineText text={id.slice(end)} />}
        {children}
      </span>
    </span>
  );
}

const longestEnd = 8;
