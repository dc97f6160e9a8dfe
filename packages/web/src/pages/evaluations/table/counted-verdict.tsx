import { UserRoundPen } from "lucide-react";
import type { ResultRow } from "../../../data/result-row.ts";
import { VerdictBadge } from "../../../ui/verdict-badge.tsx";

/** The verdict that counts. A person’s is marked as such. */
export function CountedVerdict({
  row: { status, pass, corrected },
}: {
  row: Pick<ResultRow, "status" | "pass" | "corrected">;
}) {
  if (corrected === null) return <VerdictBadge status={status} pass={pass} />;
  const own = pass === null ? "no verdict" : pass ? "a pass" : "a fail";
  return (
    <span
      className="inline-flex items-center gap-1.5"
      title={`A person says so. The evaluator said: ${own}.`}
    >
      <VerdictBadge status={status} pass={corrected.pass} />
      <UserRoundPen className="size-3.5 text-ink-3" aria-label="corrected" />
    </span>
  );
}
