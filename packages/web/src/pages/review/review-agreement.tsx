import { useQuery } from "@tanstack/react-query";
import { profileAgreementQuery } from "../../data/evaluation/evaluator-profiles.ts";
import { usePresage } from "../../data/use-presage.ts";
import { formatCount } from "../../format/format-number.ts";
import { Explained } from "../../ui/overlay/explained.tsx";
import { RateCell } from "../../ui/verdict/rate-cell.tsx";

interface ReviewAgreementProps {
  publicId: string;
  revision: number;
}

/** How far people have agreed with the revision of a profile whose verdict is shown. */
export function ReviewAgreement({ publicId, revision }: ReviewAgreementProps) {
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
