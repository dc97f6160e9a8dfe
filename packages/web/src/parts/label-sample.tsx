import type { Run } from "@presage/sdk";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { ClipboardCheck } from "lucide-react";
import { usePresage } from "../data/client.ts";
import { agreementQuery } from "../data/runs.ts";
import { counted, formatPercent, unbroken } from "../format/numbers.ts";
import { withoutVersion } from "../format/words.ts";
import { ErrorNotice } from "../ui/notice.tsx";
import { Explained } from "../ui/tooltip.tsx";
import { InlineText } from "../ui/untrusted-text/inline-text.tsx";
import { AllowedButton } from "./allowed.tsx";

const size = 20;

/** Draws verdicts from an ended run, and opens them for labelling. */
export function LabelSampleButton({ run }: { run: Run }) {
  const presage = usePresage();
  const navigate = useNavigate();
  const draw = useMutation({
    // Only passes or only fails would not show in which direction the evaluator errs.
    mutationFn: () =>
      presage.labels.draw(run.id, { size, by: "verdict", seed: Math.floor(Math.random() * 2 ** 31) }),
    onSuccess: ({ id }) => void navigate({ to: "/review", search: { run: run.id, drawn: id } }),
  });
  if (run.status !== "finished") return null;
  return (
    <>
      <AllowedButton
        needs="evaluate"
        icon={<ClipboardCheck aria-hidden />}
        isBusy={draw.isPending}
        onClick={() => draw.mutate()}
      >
        Label {size} of these
      </AllowedButton>
      {draw.error !== null && (
        <div className="w-full">
          <ErrorNotice error={draw.error} />
        </div>
      )}
    </>
  );
}

interface AgreementProps {
  /** Undefined until known. */
  of: Parameters<typeof agreementQuery>[1];
  /** The number of evaluations that could be labelled, if known. */
  existing?: number | undefined;
  /** Whether only the share is in sight, and whose it is said, as that of the next verdict may be another one. */
  isShort?: boolean;
}

/** How far an evaluator agrees with people so far, and what more labels would add. */
export function Agreement({ of, existing, isShort = false }: AgreementProps) {
  const { data, error, refetch } = useQuery({
    ...agreementQuery(usePresage(), of),
    enabled: of !== undefined,
  });
  const more = data?.more_labels;
  const isTooFew = more?.count != null && existing !== undefined && more.count > existing;
  if (error !== null && data === undefined) return <ErrorNotice error={error} onRetry={refetch} />;
  const name = withoutVersion(data?.evaluator ?? "");
  if (isShort && data?.agreement.value != null)
    return (
      <p className="min-h-5 text-sm text-ink-2" aria-live="polite">
        <Explained text={[data.sentence, data.note].join(" ")}>
          {name} agrees with people on {formatPercent(data.agreement.value)} of{" "}
          {counted(data.agreement.count, "verdict")}.
        </Explained>
      </p>
    );
  return (
    <p className="min-h-10 text-sm text-ink-2 sm:min-h-5" aria-live="polite">
      {data !== undefined && <InlineText text={unbroken(data.sentence)} />}{" "}
      {more != null && more.count !== null && (
        <b className="font-medium whitespace-nowrap text-ink">
          {isTooFew
            ? `Its ${counted(existing, "evaluation")} are too few`
            : counted(more.count, "more label")}{" "}
          for ±{Math.round(100 * more.half_width)} points
        </b>
      )}
      {data?.note != null && <span className="block text-xs text-ink-3">{data.note}</span>}
    </p>
  );
}
