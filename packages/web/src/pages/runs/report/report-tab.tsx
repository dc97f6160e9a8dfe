import { describeSurvival, describeSurvivalMethod, mainEvaluator } from "@presage/contract/describe-runs";
import type { Run, RunReport, RunSurvival } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { TriangleAlert } from "lucide-react";
import { Suspense, useState } from "react";
import { usePresage } from "../../../data/client.ts";
import { firstPredictionQuery } from "../../../data/runs.ts";
import { formatCount, formatPercent, formatScore, formatShare } from "../../../format/numbers.ts";
import { humanizeName } from "../../../format/words.ts";
import { ConfidenceCard } from "../../../parts/confidence-card.tsx";
import { evaluatorKey, evaluatorOptions } from "../../../parts/evaluator-names.ts";
import { PromptTurns, promptOf } from "../../../parts/prompt.tsx";
import { inPlace } from "../../../search-params.ts";
import { Button, CopyButton } from "../../../ui/button.tsx";
import { Card, Fact } from "../../../ui/card.tsx";
import type { CurvePoint } from "../../../ui/charts/curve.ts";
import { CurveChart } from "../../../ui/charts/curve-plot.tsx";
import { Segmented } from "../../../ui/form/choices.tsx";
import { Select } from "../../../ui/form/select.tsx";
import { lazyPart } from "../../../ui/load.ts";
import { Awaited, EmptyState } from "../../../ui/notice.tsx";
import { SkeletonRows } from "../../../ui/skeleton.tsx";
import { Cell, HeaderCell, RowHeader, Table } from "../../../ui/table.tsx";
import { AnswerCard } from "./answer-card.tsx";
import { StepCard, StrataCard } from "./breakdown-cards.tsx";
import { type Measure, measureLabels, measures } from "./describe-figures.ts";

const EndsCard = lazyPart(async () => (await import("../../../parts/ends-card.tsx")).EndsCard);

interface ReportTabProps {
  run: Run;
  report: RunReport;
}

const runRoute = getRouteApi("/runs/$runId");

/** A run's report: first whether its model is good enough, then where it fails, then what it cost. */
export function ReportTab({ run, report }: ReportTabProps) {
  const search = runRoute.useSearch();
  const navigate = runRoute.useNavigate();
  const { evaluators, provenance } = report;
  const measure = search.measure ?? "pass_rate";
  const chosen =
    evaluators.find((one) => evaluatorKey(one) === search.evaluator) ??
    mainEvaluator(evaluators, report.goal);
  if (chosen === undefined || evaluators.every(({ count, failed }) => count + failed === 0)) {
    return (
      <EmptyState icon={TriangleAlert} title="No verdicts yet">
        Figures appear here as soon as the first samples are judged.
      </EmptyState>
    );
  }
  const survival = report.survival?.find((one) => evaluatorKey(one) === evaluatorKey(chosen));
  const change = (part: { measure?: Measure; evaluator?: string }) =>
    navigate({ search: (before) => ({ ...before, ...part }), ...inPlace });
  return (
    <div className="flex min-w-0 flex-col gap-4 pt-4">
      {report.ends && provenance.ends && (
        <Suspense fallback={<SkeletonRows count={4} className="h-10" />}>
          <EndsCard ends={report.ends} />
        </Suspense>
      )}
      <AnswerCard run={run} report={report} chosen={chosen} measure={measure} />
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="text-base font-semibold">Where it fails</h2>
        {run.dataset_id !== null && chosen.pass_rate !== null && chosen.pass_rate < 1 && (
          <Link
            to="/runs/$runId"
            params={{ runId: run.id }}
            search={{
              tab: "samples",
              verdict: "fail",
              judge: Math.max(
                0,
                run.evaluators.findIndex((one) => evaluatorKey(one) === evaluatorKey(chosen)),
              ),
            }}
            className="text-sm text-accent-ink underline-offset-2 hover:underline"
          >
            The samples that fail
          </Link>
        )}
        <span className="flex-1" />
        {evaluators.length > 1 && (
          <Select
            aria-label="Evaluator"
            className="max-w-64"
            value={evaluatorKey(chosen)}
            options={evaluatorOptions(evaluators)}
            onChange={(evaluator) => change({ evaluator })}
          />
        )}
        <Segmented
          label="Measure"
          value={measure}
          options={measures.map((value) => ({ value, label: measureLabels[value] }))}
          onChange={(value) => change({ measure: value })}
        />
      </div>
      {chosen.count === 0 ? (
        <FailuresCard report={report} chosen={chosen} />
      ) : (
        <div className="grid min-w-0 items-start gap-4 *:flex *:min-w-0 *:flex-col *:gap-4 xl:grid-cols-2">
          <div>
            <StepCard report={report} chosen={chosen} measure={measure} />
            <ConfidenceCard run={run} chosen={chosen} />
            <StrataCard
              title="By action verb"
              rowLabel="Verb"
              hint="By the action’s first word: the 50 most frequent, those with the most failures first."
              strata={chosen.strata.verb}
              measure={measure}
              isMostLostFirst
            />
            <FailuresCard report={report} chosen={chosen} />
          </div>
          <div>
            {survival !== undefined && <SurvivalCard run={run} survival={survival} />}
            <StrataCard
              title="By number of changes"
              rowLabel="Changes"
              hint="How much the state changed in the recording."
              strata={chosen.strata.changes}
              measure={measure}
            />
            <StrataCard
              title="By tag"
              rowLabel="Tag"
              hint={chosen.strata_left_out.tag === 0 ? undefined : "The most frequent 200."}
              strata={chosen.strata.tag}
              measure={measure}
            />
            <StrataCard
              title="Worst trajectories"
              rowLabel="Trajectory"
              hint={describeLeftOut(chosen.strata_left_out.trajectory)}
              strata={chosen.strata.trajectory.filter(({ pass_rate, mean }) => (mean ?? pass_rate) !== 1)}
              measure={measure}
              runId={run.id}
            />
          </div>
        </div>
      )}
      <ProvenanceCard run={run} report={report} />
    </div>
  );
}

/** Failures by kind. Means do not include failures. */
function FailuresCard({
  report: { run, failures },
  chosen,
}: Pick<ReportTabProps, "report"> & { chosen: RunReport["evaluators"][number] }) {
  const kinds = [
    ...Object.entries(failures.predictions).map(([kind, count]) => ({ of: "Prediction", kind, count })),
    ...Object.entries(failures.evaluations).map(([kind, count]) => ({ of: "Evaluation", kind, count })),
    ...Object.entries(run.progress.tries?.retried ?? {}).map(([kind, count]) => ({
      of: "Call, tried again",
      kind,
      count,
    })),
  ].sort((one, other) => other.count - one.count);
  if (kinds.length === 0 && run.notes.length === 0) return null;
  const { pass_rate_failures_as_zero: rate, mean_failures_as_zero: mean } = chosen;
  const withFailures = [
    ...(rate === null ? [] : [`pass rate ${formatShare(rate)}`]),
    ...(mean === null ? [] : [`mean score ${formatScore(mean)}`]),
  ];
  return (
    <Card
      title="Errors by kind"
      hint="Failed predictions and evaluations are in no mean or pass rate. Calls that succeeded when tried again are."
      actions={
        Object.keys(failures.predictions).length > 0 && (
          <Link
            to="/predictions"
            search={{ run: run.id, status: "failed" }}
            className="text-sm text-accent-ink underline-offset-2 hover:underline"
          >
            Failed predictions
          </Link>
        )
      }
    >
      <Table label="Errors by kind">
        <thead>
          <tr className="border-b border-line">
            <HeaderCell>Kind</HeaderCell>
            <HeaderCell>Of</HeaderCell>
            <HeaderCell isNumber>Count</HeaderCell>
          </tr>
        </thead>
        <tbody>
          {kinds.map(({ of, kind, count }) => (
            <tr key={`${of} ${kind}`} className="border-b border-line last:border-0">
              <RowHeader>{humanizeName(kind)}</RowHeader>
              <Cell>{of}</Cell>
              <Cell isNumber>{formatCount(count)}</Cell>
            </tr>
          ))}
        </tbody>
      </Table>
      {run.notes.length > 0 && (
        <p className="border-t border-line px-4 py-2 text-xs text-ink-3">{run.notes.join(" ")}</p>
      )}
      {chosen.failed > 0 && withFailures.length > 0 && (
        <p className="border-t border-line px-4 py-2 text-xs text-ink-3">
          With failures as zero, by {chosen.evaluator}: {withFailures.join(", ")}.
        </p>
      )}
    </Card>
  );
}

/** How many steps free-running trajectories take until their first divergence. */
function SurvivalCard({ run, survival }: { run: Run; survival: RunSurvival }) {
  const { endings, failures_as_divergence: bound } = survival;
  const failed = endings.prediction_failed + endings.evaluator_failed;
  const series = [{ key: "survival", label: "Not diverged", points: pointsOf(survival) }];
  if (failed > 0) {
    series.push({ key: "bound", label: "If failures are divergence", points: pointsOf(bound) });
  }
  return (
    <Card title="Survival" hint={describeSurvival(survival, run)}>
      <CurveChart
        shape="step"
        label="Share of trajectories that have not diverged"
        xLabel="Steps predicted"
        yLabel="Not diverged"
        series={series}
        format={formatShare}
        formatTick={formatPercent}
        note={describeSurvivalMethod(survival)}
      />
    </Card>
  );
}

/** Before the first step, no trajectory has diverged. After step k, k + 1 steps have been predicted. */
function pointsOf({ steps }: Pick<RunSurvival, "steps">): CurvePoint[] {
  return [
    { x: 0, value: 1 },
    ...steps.map(({ step, survival, interval, at_risk }) => ({
      x: step + 1,
      value: survival,
      lower: interval?.lower,
      upper: interval?.upper,
      basis: `${formatCount(at_risk)} at risk`,
    })),
  ];
}

function describeLeftOut(count: number): string {
  const order = "From the lowest mean score on, failures as zero.";
  return count === 0 ? order : `${order} ${formatCount(count)} with a higher one are not shown.`;
}

/** Everything that is needed to repeat the run. */
function ProvenanceCard({ run, report: { provenance } }: { run: Run; report: RunReport }) {
  const { presage_version, prompt_version, dataset_digest, models, in_sample } = provenance;
  const params = run.params === null ? "defaults" : JSON.stringify(run.params);
  return (
    <Card title="Provenance" className="break-inside-avoid">
      <dl className="flex flex-col gap-1 px-4 py-3 text-sm sm:grid sm:grid-cols-[10rem_minmax(0,1fr)]">
        <Fact look="row" name="Run">
          <span className="inline-flex items-center gap-1 font-mono text-xs">
            {run.id} <CopyButton text={run.id} label="Copy the run’s ID" />
          </span>
        </Fact>
        <Fact look="row" name="Model, as it answered">
          {models.length === 0 ? "–" : models.join(", ")}
        </Fact>
        <Fact look="row" name="Parameters">
          <code className="font-mono text-xs">{params}</code>
        </Fact>
        <Fact look="row" name="Evaluators">
          {run.evaluators
            .map(
              ({ evaluator, profile_name, profile_revision }) =>
                evaluator +
                (profile_name === null ? "" : `, ${profile_name}`) +
                (profile_revision === null ? "" : `, revision ${profile_revision}`),
            )
            .join("; ") || "–"}
        </Fact>
        <Fact look="row" name="Dataset’s digest">
          <code className="font-mono text-xs">{dataset_digest ?? "–"}</code>
        </Fact>
        <Fact look="row" name="Versions">
          Presage {presage_version}
          {prompt_version !== null && `, prompt ${prompt_version}`}
        </Fact>
        {in_sample && (
          <Fact look="row" name="In sample">
            The baseline learnt from the revision that it predicts.
          </Fact>
        )}
      </dl>
      <div className="flex flex-col items-start gap-3 px-4 pb-3 *:max-w-full">
        <PromptOfRun run={run} />
      </div>
    </Card>
  );
}

/** The prompt of the first sample, on demand. Absent for runs that ask no model. */
function PromptOfRun({ run }: { run: Run }) {
  const [isShown, setShown] = useState(false);
  const { data, error, refetch } = useQuery({
    ...firstPredictionQuery(usePresage(), run.id),
    enabled: isShown,
  });
  if (!("deployment" in run.target || "world" in run.target)) return null;
  if (!isShown) {
    return (
      <Button size="small" onClick={() => setShown(true)}>
        Show the prompt of the first sample
      </Button>
    );
  }
  if (data === undefined) return <Awaited error={error} onRetry={refetch} count={3} />;
  if (data === null) return <p className="text-sm text-ink-2">No sample has been predicted yet.</p>;
  return <PromptTurns turns={promptOf(data)} />;
}
