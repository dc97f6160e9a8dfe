import type { EvaluationResult, ReviewQueueItem } from "@presage/sdk";
import { Link } from "@tanstack/react-router";
import { toResultRow } from "../../data/evaluation/evaluation-results.ts";
import { VerdictLine } from "../../parts/result-texts.tsx";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { InlineText } from "../../ui/untrusted-text/inline-text.tsx";
import { PlainText } from "../../ui/untrusted-text/plain-text.tsx";
import { ReviewAgreement } from "./review-agreement.tsx";
import { ReviewTexts } from "./review-texts.tsx";

interface ReviewCardProps {
  result: EvaluationResult;
  /** Undefined if the result was opened by its address. */
  item: ReviewQueueItem | undefined;
  isBlind: boolean;
}

/** One result: why it is here, what the evaluator said, and the texts. */
export function ReviewCard({ result, item, isBlind }: ReviewCardProps) {
  const { explanation, evaluator_profile_public_id: publicId, evaluator_profile_revision: revision } = result;
  return (
    <div className="flex min-w-0 flex-col gap-3 p-4">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        {item !== undefined && <Reason item={item} />}
        {isBlind ? (
          <span className="text-sm text-ink-3">
            The verdict of {result.evaluator_id} is hidden until you have decided.
          </span>
        ) : (
          <VerdictLine verdict={toResultRow(result)} />
        )}
        <Link
          to="/evaluations"
          search={{ result: result.id ?? "" }}
          className="text-xs sm:ml-auto text-accent-ink underline-offset-2 hover:underline"
        >
          Result {result.id}
        </Link>
      </div>
      {result.profile_name !== null && publicId !== null && revision !== null && (
        <div className="flex flex-wrap items-center gap-x-4 gap-y-1 text-sm">
          <Link
            to="/evaluators/profiles/$publicId"
            params={{ publicId }}
            className="text-accent-ink underline-offset-2 hover:underline"
          >
            <InlineText text={result.profile_name} /> · r{revision}
          </Link>
          <ReviewAgreement publicId={publicId} revision={revision} />
        </div>
      )}
      {!isBlind && explanation !== null && explanation !== "" && (
        <PlainText text={explanation} label="Explanation" isProse />
      )}
      <ReviewTexts result={result} />
    </div>
  );
}

const reasons: Record<ReviewQueueItem["reason"], { label: string; tone: Tone }> = {
  "repeats-disagree": { label: "Repeats disagree", tone: "warn" },
  "near-threshold": { label: "Near the threshold", tone: "warn" },
  "model-judged": { label: "Judged by a model", tone: "accent" },
  drawn: { label: "Drawn", tone: "neutral" },
};

function Reason({ item: { reason, distance, repeats } }: { item: ReviewQueueItem }) {
  const { label, tone } = reasons[reason];
  const detail =
    repeats !== null
      ? `${repeats.passed} passed, ${repeats.not_passed} did not`
      : distance !== null
        ? `${distance.toFixed(3)} away`
        : undefined;
  return (
    <Badge tone={tone}>
      {label}
      {detail !== undefined && ` · ${detail}`}
    </Badge>
  );
}
