import type { EvaluationResult, ReviewQueueItem } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { usePresage } from "../../data/client.ts";
import { profileAgreementQuery } from "../../data/evaluators.ts";
import { toResultRow } from "../../data/results.ts";
import { formatCount } from "../../format/numbers.ts";
import { VerdictLine } from "../../parts/result-texts.tsx";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { TextDifference } from "../../ui/difference/text-difference.tsx";
import { RateCell } from "../../ui/pass-rate.tsx";
import { Explained } from "../../ui/tooltip.tsx";
import { InlineText } from "../../ui/untrusted-text/inline-text.tsx";
import { PlainText } from "../../ui/untrusted-text/plain-text.tsx";

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

interface ReviewAgreementProps {
  publicId: string;
  revision: number;
}

/** How far people have agreed with the revision of a profile whose verdict is shown. */
function ReviewAgreement({ publicId, revision }: ReviewAgreementProps) {
  const presage = usePresage();
  const { data } = useQuery(profileAgreementQuery(presage, publicId));
  const reviews = data?.find((of) => of.revision === revision);
  return (
    <Explained
      className="flex min-h-5 flex-wrap items-center gap-x-3 text-sm"
      text="How often a person’s latest verdict on a result equals the evaluator’s, with its 95 % interval. It stands for all results only if they were drawn at random."
    >
      {reviews !== undefined && reviews.corrected > 0 ? (
        <>
          <span className="text-ink-2">People agreed</span>
          <RateCell rate={reviews.agreement} interval={reviews.agreement_interval} />
          <span className="text-xs text-ink-3">
            {formatCount(reviews.agreed)} of {formatCount(reviews.corrected)}
            {reviews.clusters !== null && ` in ${formatCount(reviews.clusters)} clusters`}
          </span>
        </>
      ) : (
        <span className="text-ink-3">
          {data === undefined ? "" : "No one has reviewed this profile yet."}
        </span>
      )}
    </Explained>
  );
}

/** What was asked, and output and gold answer side by side with the difference marked. */
function ReviewTexts({ result }: { result: EvaluationResult }) {
  const output = result.evaluated_model_output;
  const gold = result.evaluated_model_gold_answer;
  const input = result.evaluated_model_input;
  const contexts = result.evaluated_model_retrieved_context ?? [];
  const { positions } = result.additional_info;
  return (
    <div className="flex min-w-0 flex-col gap-3">
      {input !== null && <PlainText text={input} label="Input" />}
      {contexts.map((text, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the list of one result never changes
        <PlainText key={index} text={text} label={`Context ${index + 1}`} />
      ))}
      {output !== null && gold !== null ? (
        <TextDifference
          before={gold}
          after={output}
          beforeLabel="Gold answer"
          afterLabel="Output"
          firstLayout="side-by-side"
        />
      ) : (
        <>
          {gold !== null && <PlainText text={gold} label="Gold answer" />}
          {output !== null && <PlainText text={output} label="Output" positions={positions ?? undefined} />}
        </>
      )}
      {output === null && gold === null && input === null && (
        <p className="text-sm text-ink-3">No texts were stored.</p>
      )}
    </div>
  );
}
