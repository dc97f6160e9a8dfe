import type { RecentErrorFindingsResponse } from "@presage/sdk";
import type { ReactNode } from "react";
import { formatCount, formatShare } from "../../../format/format-number.ts";
import { Explained } from "../../../ui/overlay/explained.tsx";
import { pathKey } from "./walk-nodes.ts";

interface KindShareProps {
  of: Pick<RecentErrorFindingsResponse["models"][number], "evaluated" | "findings">;
  /** The key of the kind's path. */
  kind: string | undefined;
  /** Whose evaluations they are, as the explanation says it. */
  subject: string;
  children: ReactNode;
}

/** In how many of a model's or a run's evaluations a kind of error was found. */
export function KindShare({ of: { evaluated, findings }, kind, subject, children }: KindShareProps) {
  const count = findings.find(({ path }) => pathKey(path) === kind)?.count ?? 0;
  const share = evaluated === 0 ? 0 : count / evaluated;
  return (
    <li className="flex flex-col gap-1 text-sm">
      <span className="flex justify-between gap-3">
        <span className="min-w-0 truncate">{children}</span>
        <Explained
          text={`Found in ${formatCount(count)} of the newest ${formatCount(evaluated)} evaluations ${subject}.`}
          className="whitespace-nowrap tabular-nums"
        >
          {formatShare(share)}{" "}
          <span className="text-xs text-ink-3">
            {formatCount(count)} of {formatCount(evaluated)}
          </span>
        </Explained>
      </span>
      <span aria-hidden className="h-1.5 overflow-hidden rounded-full bg-sunken">
        <span className="block h-full rounded-full bg-fail" style={{ width: `${share * 100}%` }} />
      </span>
    </li>
  );
}
