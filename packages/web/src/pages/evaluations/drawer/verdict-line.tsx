import type { ReactNode } from "react";
import type { ResultRow } from "../../../data/evaluation/evaluation-results.ts";
import { formatScore } from "../../../format/format-number.ts";
import { Time } from "../../../ui/time.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import { VerdictBadge } from "../../../ui/verdict/verdict-badge.tsx";

type Verdict = Pick<ResultRow, "status" | "pass" | "score_raw" | "corrected" | "evaluator_id" | "created_at">;

/** The evaluator's verdict, and a person's correction. */
export function VerdictLine({ verdict }: { verdict: Verdict }) {
  const { status, pass, score_raw, corrected, evaluator_id, created_at } = verdict;
  return (
    <div className="flex flex-wrap items-center gap-x-5 gap-y-2 text-sm">
      <Part name={corrected === null ? undefined : "Evaluator"}>
        <VerdictBadge status={status} pass={pass} />
        {score_raw !== null && <Score score={score_raw} />}
      </Part>
      {corrected !== null && (
        <Part name="A person">
          <VerdictBadge status={status} pass={corrected.pass} />
          {corrected.score !== null && <Score score={corrected.score} />}
        </Part>
      )}
      <span className="min-w-0 truncate font-medium">
        <InlineText text={evaluator_id} />
      </span>
      <span className="text-ink-3">
        <Time at={created_at} />
      </span>
    </div>
  );
}

function Part({ name, children }: { name: string | undefined; children: ReactNode }) {
  return (
    <span className="inline-flex items-center gap-2">
      {name !== undefined && <span className="text-xs text-ink-3">{name}</span>}
      {children}
    </span>
  );
}

function Score({ score }: { score: number }) {
  return (
    <span className="text-ink-2">
      score <span className="font-semibold text-ink tabular-nums">{formatScore(score)}</span>
    </span>
  );
}
