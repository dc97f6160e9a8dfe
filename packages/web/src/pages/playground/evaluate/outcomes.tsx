import type { EvaluateItem } from "@presage/sdk";
import { Link } from "@tanstack/react-router";
import { formatScore } from "../../../format/format-number.ts";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import { VerdictBadge } from "../../../ui/verdict/verdict-badge.tsx";
import { playgroundApp } from "./use-evaluations.ts";

const versionAtEnd = /-\d{4}-\d{2}-\d{2}$/;

/** One row for each evaluator, with its verdict or error. */
export function Outcomes({ items }: { items: readonly EvaluateItem[] }) {
  return (
    <ul aria-label="Results" className="rounded-md border border-line">
      {items.map((item) => (
        <li
          key={`${item.evaluator_id} ${item.profile_name}`}
          className="flex flex-col gap-1.5 border-b border-line px-3 py-2 last:border-b-0"
        >
          <Outcome item={item} />
        </li>
      ))}
    </ul>
  );
}

function Outcome({ item }: { item: EvaluateItem }) {
  const { evaluator_id, profile_name, status, error_message, evaluation_result: result } = item;
  const family = evaluator_id.replace(versionAtEnd, "");
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
        <VerdictBadge status={status} pass={result?.pass ?? null} />
        <span className="min-w-0 flex-1 basis-40 truncate">
          <span className="font-medium">{family}</span> <span className="text-ink-3">{profile_name}</span>
        </span>
        {result !== null && (
          <span className="text-ink-2 tabular-nums">
            <span className="sr-only">Score </span>
            {formatScore(result.score_raw)}
          </span>
        )}
        <OutcomeLink item={item} />
      </div>
      {error_message !== null && (
        <p className="text-xs wrap-anywhere text-warn">
          <InlineText text={error_message} />
        </p>
      )}
      {result?.explanation && (
        <p className="text-xs wrap-anywhere text-ink-2">
          <InlineText text={result.explanation} />
        </p>
      )}
    </>
  );
}

const othersAlike = {
  failed: ["error", "See all errors"],
  validation_error: ["unusable-input", "See all unusable inputs"],
  contradictory: ["contradictory", "See all contradictory verdicts"],
  not_applicable: ["not-applicable", "See all that are left out"],
} as const;

function OutcomeLink({ item: { status, evaluation_result: result } }: { item: EvaluateItem }) {
  const look = "text-accent-ink underline-offset-2 hover:underline";
  if (result?.id) {
    return (
      <Link to="/evaluations" search={{ app: playgroundApp, result: result.id }} className={look}>
        Open
      </Link>
    );
  }
  if (status === "success") return null;
  const [verdict, label] = othersAlike[status];
  return (
    <Link to="/evaluations" search={{ app: playgroundApp, verdict }} className={look}>
      {label}
    </Link>
  );
}
