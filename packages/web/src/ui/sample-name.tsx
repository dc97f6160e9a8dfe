import type { ReactNode } from "react";
import { InlineText } from "./untrusted-text/inline-text.tsx";

/** The ID of a sample or a trajectory in little room: of a long one the end stays, which differs from the row above. */
export function SampleName({ id, children }: { id: string; children?: ReactNode }) {
  const characters = Array.from(id);
  return (
    <span title={id} className="flex min-w-0 font-mono text-xs text-ink print:inline">
      {characters.length <= keptAtEnd ? (
        <InlineText text={id} />
      ) : (
        <>
          {/* Two parts would be read as two words. */}
          <span className="sr-only">
            <InlineText text={id} />
          </span>
          <span aria-hidden className="truncate">
            <InlineText text={characters.slice(0, -keptAtEnd).join("")} />
          </span>
          <span aria-hidden className="shrink-0">
            <InlineText text={characters.slice(-keptAtEnd).join("")} />
          </span>
        </>
      )}
      {children}
    </span>
  );
}

const keptAtEnd = 12;
