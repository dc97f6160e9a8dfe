import type { EvaluationResult } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleCheck, CircleMinus, CircleX } from "lucide-react";
import { usePresage } from "../../../data/client.ts";
import type { SampleInRun } from "../../../data/comparisons.ts";
import { resultQuery } from "../../../data/results.ts";
import { formatScore, formatShare } from "../../../format/numbers.ts";
import { withoutVersion } from "../../../format/words.ts";
import { Badge } from "../../../ui/badge.tsx";
import { ErrorNotice } from "../../../ui/notice.tsx";
import { Skeleton } from "../../../ui/skeleton.tsx";
import { StepTexts } from "../../../ui/steps/step-texts.tsx";
import { PlainText } from "../../../ui/untrusted-text/plain-text.tsx";
import type { SamplePlace } from "../compare-search.ts";
import { type MarkedRun, RunName } from "../run-mark.tsx";

interface SampleTextsProps {
  sample: { reference: SampleInRun; candidate: SampleInRun };
  place: SamplePlace;
  reference: MarkedRun;
  candidate: MarkedRun;
}

/** Both outputs side by side, each with its difference from the recorded state. */
export function SampleTexts({ sample, place, reference, candidate }: SampleTextsProps) {
  const before = useResult(sample.reference.evaluation_result_id);
  const after = useResult(sample.candidate.evaluation_result_id);
  const told = (before.data ?? after.data)?.evaluated_model_input;
  return (
    <div className="flex flex-col gap-5 p-4">
      {told != null && <PlainText text={told} label="State and action" />}
      <div className="grid gap-5 lg:grid-cols-2">
        <ComparedOutput marked={reference} judged={sample.reference} result={before} place={place} />
        <ComparedOutput marked={candidate} judged={sample.candidate} result={after} place={place} />
      </div>
    </div>
  );
}

function useResult(id: string | null) {
  const presage = usePresage();
  return useQuery({ ...resultQuery(presage, id ?? ""), enabled: id !== null });
}

interface ComparedOutputProps {
  marked: MarkedRun;
  judged: SampleInRun;
  result: Pick<ReturnType<typeof useResult>, "data" | "error" | "refetch">;
  place: SamplePlace;
}

function ComparedOutput({ marked, judged, result, place }: ComparedOutputProps) {
  const { data, error, refetch } = result;
  return (
    <section aria-label={`Output of ${marked.letter}`} className="flex min-w-0 flex-col gap-2">
      <h3 className="flex flex-wrap items-center gap-2 text-sm font-semibold">
        <RunName marked={marked} />
        {judged.pass_rate !== null && <PassRateBadge passRate={judged.pass_rate} />}
        <span className="text-xs font-normal text-ink-3 tabular-nums">
          {formatScore(judged.score)}
          {data && ` by ${withoutVersion(data.evaluator_id)}`}
        </span>
        <Link
          to="/runs/$runId/trajectories/$trajectoryId"
          params={{ runId: marked.run.id, trajectoryId: place.trajectory_id }}
          search={{ step: place.step }}
          className="ml-auto text-xs font-normal text-accent-ink underline underline-offset-2"
        >
          Its trajectory
        </Link>
      </h3>
      {judged.evaluation_result_id === null && (
        <p className="text-sm text-ink-2">
          This run has no verdict for the sample, or its result was deleted.
        </p>
      )}
      {error !== null && <ErrorNotice error={error} onRetry={refetch} />}
      {data === undefined && error === null && judged.evaluation_result_id !== null && (
        <Skeleton className="h-40" />
      )}
      {data !== undefined && <Texts result={data} />}
    </section>
  );
}

/** A sample's verdict in one run: a pass or a fail if all its repeats agree, else the share of repeats that pass. */
export function PassRateBadge({ passRate }: { passRate: number }) {
  const [tone, Icon, text] =
    passRate === 1
      ? (["pass", CircleCheck, "Pass"] as const)
      : passRate === 0
        ? (["fail", CircleX, "Fail"] as const)
        : (["neutral", CircleMinus, `${formatShare(passRate)} pass`] as const);
  return (
    <Badge tone={tone} icon={<Icon aria-hidden />}>
      {text}
    </Badge>
  );
}

function Texts({ result }: { result: EvaluationResult }) {
  const { evaluated_model_output: output, evaluated_model_gold_answer: gold, explanation } = result;
  const only = output ?? gold;
  return (
    <>
      {output !== null && gold !== null ? (
        <StepTexts
          before={gold}
          after={output}
          beforeLabel="Recorded"
          afterLabel="Predicted"
          isPredicted
          isStacked
        />
      ) : (
        only !== null && <PlainText text={only} label={output === null ? "Recorded" : "Predicted"} />
      )}
      {explanation !== null && explanation !== "" && (
        <PlainText text={explanation} label="Explanation" isProse />
      )}
    </>
  );
}
