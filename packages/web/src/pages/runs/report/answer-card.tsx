import { describeP, formatPoints, measureNames } from "@presage/contract/describe-runs";
import type { ComparisonCandidate, Run, RunBaseline, RunReport } from "@presage/sdk";
import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { CircleCheck, CircleMinus, CircleX } from "lucide-react";
import { differenceOf, useBaselineDifference } from "../../../data/comparisons.ts";
import { useCreateRun } from "../../../data/runs.ts";
import { countedIn, describeInterval, formatP, formatShare, unbroken } from "../../../format/numbers.ts";
import { AllowedButton } from "../../../parts/allowed.tsx";
import { evaluatorKey, nameEvaluator } from "../../../parts/evaluator-names.ts";
import { Agreement } from "../../../parts/label-sample.tsx";
import { Badge, type Tone } from "../../../ui/badge.tsx";
import { Card } from "../../../ui/card.tsx";
import { IntervalTable } from "../../../ui/charts/interval-table.tsx";
import { ErrorNotice } from "../../../ui/notice.tsx";
import { Decision } from "./decision.tsx";
import {
  figureOf,
  type Measure,
  measureExplanations,
  measureFormats,
  measureLabels,
} from "./describe-figures.ts";

interface AnswerCardProps {
  run: Run;
  report: RunReport;
  chosen: RunReport["evaluators"][number];
  measure: Measure;
}

interface Answer {
  /** `unknown`: there is nothing to compare with. */
  outcome: ComparisonCandidate["outcome"] | "unknown";
  title: string;
  detail: string;
}

const looks: Record<Answer["outcome"], { tone: Tone; icon: typeof CircleCheck }> = {
  better: { tone: "pass", icon: CircleCheck },
  worse: { tone: "fail", icon: CircleX },
  undecided: { tone: "warn", icon: CircleMinus },
  unknown: { tone: "neutral", icon: CircleMinus },
};

/** Whether the model is good enough: its figures beside those of the best baseline, and the difference. */
export function AnswerCard({ run, report, chosen, measure }: AnswerCardProps) {
  const { evaluators } = report;
  const known = useBaselineDifference(run, chosen.baseline);
  const difference = differenceOf(known?.comparison, chosen);
  const isComparing =
    run.status === "finished" &&
    (known === null || (known.baseline !== null && known.comparison === undefined && known.error === null));
  const answer: Answer = isComparing
    ? { outcome: "unknown", title: "Comparing with the best baseline …", detail: "" }
    : answerOf(chosen, difference);
  const { tone, icon: Icon } = looks[answer.outcome];
  const isBaseline = "baseline" in run.target && run.target.baseline === "no-change";
  const rows = evaluators.map((one) => ({
    key: evaluatorKey(one),
    label: nameEvaluator(one, evaluators),
    ...figureOf(one, measure),
    ...(measure === "pass_rate" && { reference: one.baseline?.pass_rate ?? null }),
  }));
  const kind = kindOf(chosen.baseline);
  const differences = evaluators.flatMap((one) => {
    const found = differenceOf(known?.comparison, one);
    if (found === undefined || found.difference === null) return [];
    return [
      {
        key: evaluatorKey(one),
        label: nameEvaluator(one, evaluators),
        value: found.difference,
        lower: found.interval?.lower ?? null,
        upper: found.interval?.upper ?? null,
        pValue: formatP(found.p_adjusted),
        count: found.count,
        measure: found.measure,
        basis: `${found.wins} better, ${found.losses} worse, ${found.ties} same`,
      },
    ];
  });
  const compared = [...new Set(differences.map((one) => `${measureNames[one.measure]}s`))].join(" or ");

  return (
    <Card title={isBaseline ? "What is there to beat?" : "Is the model good enough?"}>
      <div className="flex flex-col gap-2 px-4 py-3">
        {!isBaseline && <Decision run={run} report={report} chosen={chosen} />}
        {!isBaseline && (
          <div className="flex min-h-8.5 flex-wrap items-center gap-2 text-sm">
            <Badge tone={tone} icon={<Icon aria-hidden />}>
              {answer.title}
            </Badge>
            {known?.baseline === null && kind === "no change" && (
              <MeasureBaseline run={run} evaluators={evaluators} />
            )}
          </div>
        )}
        {/* The second line comes with the comparison. */}
        <p className={clsx("text-sm text-ink-2", !isBaseline && "min-h-[2lh]")}>
          <Sentence
            name={nameEvaluator(chosen, evaluators)}
            figures={isBaseline ? { ...chosen, baseline: null } : chosen}
            detail={
              isBaseline ? "Nothing was predicted: each state was taken for the next one." : answer.detail
            }
          />
        </p>
        {chosen.note !== null && <p className="text-xs text-warn">{chosen.note}</p>}
        <Agreement
          of={{ run: run.id, evaluator: chosen.evaluator, profile_name: chosen.profile_name ?? undefined }}
        />
        {chosen.corrected && (
          <p
            className="text-sm text-ink-2"
            title="Prediction-powered inference (PPI++), by the labels and all verdicts"
          >
            {unbroken(chosen.corrected.sentence)}{" "}
            {chosen.corrected.note !== null && (
              <span className="text-xs text-ink-3">{chosen.corrected.note}</span>
            )}
          </p>
        )}
        {known?.error != null && <ErrorNotice error={known.error} />}
      </div>
      <div
        className={clsx(
          "grid min-w-0 border-t border-line *:min-w-0",
          differences.length > 0 && "xl:grid-cols-2 xl:divide-x xl:divide-line",
        )}
      >
        <IntervalTable
          mark="bar"
          label={`${measureLabels[measure]} by evaluator`}
          rowLabel="Evaluator"
          valueLabel={measureLabels[measure]}
          explanation={measureExplanations[measure]}
          rows={rows}
          domain={[0, 1]}
          {...measureFormats[measure]}
          referenceLabel={measure === "pass_rate" ? "Best baseline" : "No change"}
          note={`The mark across a row is the ${measure === "pass_rate" ? "best measured" : "no-change"} baseline.`}
        />
        {differences.length > 0 && (
          <IntervalTable
            mark="dot"
            label={`Difference from ${kind}`}
            rowLabel="Evaluator"
            valueLabel="Points"
            explanation={`Paired difference of the ${compared} from the baseline ${kind}, in percentage points, on the samples that both have a verdict for. Interval at 95\u00a0%, clustered by trajectory; p is Holm’s.`}
            rows={differences}
            format={formatPoints}
            formatTick={(value) => formatPoints(value).replace(/\.0$/, "")}
            note={`Difference of the ${compared} from the baseline ${kind}, in percentage points.`}
          />
        )}
      </div>
    </Card>
  );
}

type Compared = Pick<
  ComparisonCandidate,
  "difference" | "interval" | "measure" | "outcome" | "p_adjusted" | "survives_one_failure"
>;

const titles: Record<ComparisonCandidate["outcome"], string> = {
  better: "Better than",
  worse: "Worse than",
  undecided: "Not shown to be better than",
};

/** “most frequent”. What no baseline is named for is compared with no change. */
function kindOf(baseline: RunBaseline | null): string {
  return (baseline?.kind ?? "no-change").replace("-", " ");
}

/** Whether the model is shown to be better than the best of what predicts without one. */
export function answerOf(
  { pass_rate, baseline }: Pick<RunReport["evaluators"][number], "pass_rate" | "baseline">,
  compared: Compared | undefined,
): Answer {
  const kind = kindOf(baseline);
  if (compared === undefined || compared.difference === null) {
    if (pass_rate === null || baseline === null)
      return { outcome: "unknown", title: "No baseline to compare with", detail: "" };
    return {
      outcome: "unknown",
      title: `Difference from ${kind} not tested`,
      detail: `The difference is ${formatPoints(pass_rate - baseline.pass_rate)} points; whether that is more than chance is known once this run and one of the baseline have finished.`,
    };
  }
  const { difference, interval, measure, outcome, p_adjusted } = compared;
  const range =
    interval === null
      ? "no interval"
      : `95\u00a0% interval ${formatPoints(interval.lower)} to ${formatPoints(interval.upper)}`;
  const p = p_adjusted === null ? "" : `, ${unbroken(describeP(p_adjusted))}`;
  const better = outcome === "better" ? "the model" : kind;
  const undone =
    compared.survives_one_failure === false
      ? ` One trajectory in which ${better} fails whole would undo this.`
      : "";
  const detail = `The ${measureNames[measure]} differs by ${formatPoints(difference)} points (${range}${p}).${undone}`;
  return { outcome, title: `${titles[outcome]} the best baseline, ${kind}`, detail };
}

/** Makes the run that predicts no change, which the difference needs. */
function MeasureBaseline({ run, evaluators }: { run: Run; evaluators: RunReport["evaluators"] }) {
  const create = useCreateRun();
  const { dataset_id, revision, status } = run;
  const comparable = run.evaluators.filter(({ evaluator, profile_id }) =>
    evaluators.some(
      (one) => one.no_change !== null && one.evaluator === evaluator && one.profile_id === profile_id,
    ),
  );
  if (status !== "finished" || dataset_id === null || comparable.length === 0) return null;
  if (create.data !== undefined)
    return (
      <span role="status" className="text-ink-2">
        Started{" "}
        <Link to="/runs/$runId" params={{ runId: create.data.id }} className="text-accent-ink underline">
          {create.data.name}
        </Link>
        , which predicts that nothing changes. The difference appears when it ends.
      </span>
    );
  const request = {
    name: "no change",
    dataset_id,
    revision,
    target: { baseline: "no-change" as const },
    evaluators: comparable.map(({ evaluator, profile_name }) => ({ evaluator, profile_name })),
  };
  return (
    <>
      <AllowedButton
        needs="evaluate"
        size="small"
        isBusy={create.isPending}
        onClick={() => create.mutate(request)}
      >
        Measure the difference
      </AllowedButton>
      {create.error !== null && <ErrorNotice error={create.error} />}
    </>
  );
}

interface SentenceProps {
  name: string;
  figures: RunReport["evaluators"][number];
  detail: string;
}

function Sentence({
  name,
  figures: { pass_rate, pass_interval, baseline, count, trajectories },
  detail,
}: SentenceProps) {
  if (pass_rate === null) return `${name} has no verdict.`;
  return (
    <>
      By {name}, <strong className="font-semibold text-ink tabular-nums">{formatShare(pass_rate)}</strong> of{" "}
      {countedIn(count, trajectories)} pass
      {pass_interval !== null && (
        <span className="tabular-nums"> (95&nbsp;% interval {describeInterval(pass_interval)})</span>
      )}
      .{" "}
      {baseline !== null && (
        <>
          The best baseline,{" "}
          {baseline.run_id === null ? (
            kindOf(baseline)
          ) : (
            <Link
              to="/runs/$runId"
              params={{ runId: baseline.run_id }}
              className="text-accent-ink underline underline-offset-2"
            >
              {kindOf(baseline)}
            </Link>
          )}
          , passes{" "}
          <strong className="font-semibold text-ink tabular-nums">{formatShare(baseline.pass_rate)}</strong>.{" "}
        </>
      )}
      {detail}
    </>
  );
}
