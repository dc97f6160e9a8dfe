import type { Run, RunReport } from "@presage/sdk";
import { getRouteApi } from "@tanstack/react-router";
import { TriangleAlert } from "lucide-react";
import { evaluatorKey, nameEvaluator } from "../../../parts/evaluators.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { Segmented } from "../../../ui/form/segmented.tsx";
import { Select } from "../../../ui/form/select.tsx";
import { AnswerCard } from "./answer-card.tsx";
import { type Measure, measureLabels, measures } from "./describe-figures.ts";
import { EffortCard } from "./effort-card.tsx";
import { FailuresCard } from "./failures-card.tsx";
import { ProvenanceCard } from "./provenance-card.tsx";
import { StepCard } from "./step-card.tsx";
import { StrataCard } from "./strata-card.tsx";
import { SurvivalCard } from "./survival-card.tsx";

const runRoute = getRouteApi("/runs/$runId");

interface ReportTabProps {
  run: Run;
  report: RunReport;
}

/** What a run says: first whether its model is good enough, then where it fails, then what it cost. */
export function ReportTab({ run, report }: ReportTabProps) {
  const search = runRoute.useSearch();
  const navigate = runRoute.useNavigate();
  const { evaluators, provenance } = report;
  const measure = search.measure ?? "pass_rate";
  const chosen = evaluators.find((one) => evaluatorKey(one) === search.evaluator) ?? evaluators[0];
  if (chosen === undefined || evaluators.every(({ count, failed }) => count + failed === 0)) {
    return (
      <EmptyState icon={TriangleAlert} title="No verdicts yet">
        Figures appear here as soon as the first samples are judged.
      </EmptyState>
    );
  }
  const survival = report.survival?.find((one) => evaluatorKey(one) === evaluatorKey(chosen));
  const change = (part: { measure?: Measure; evaluator?: string }) =>
    navigate({ search: (before) => ({ ...before, ...part }), replace: true, resetScroll: false });
  return (
    <div className="flex min-w-0 flex-col gap-4 pt-4">
      {provenance.warnings.length > 0 && (
        <ul className="flex flex-col gap-1 rounded-lg border border-warn/30 bg-warn-soft px-4 py-2 text-sm text-warn">
          {provenance.warnings.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </ul>
      )}
      <AnswerCard run={run} report={report} chosen={chosen} measure={measure} />
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="mr-auto text-base font-semibold">Where it fails</h2>
        {evaluators.length > 1 && (
          <Select
            aria-label="Evaluator"
            className="max-w-64"
            value={evaluatorKey(chosen)}
            options={evaluators.map((one) => ({
              value: evaluatorKey(one),
              label: nameEvaluator(one, evaluators),
            }))}
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
      <div className="grid min-w-0 items-start gap-4 *:flex *:min-w-0 *:flex-col *:gap-4 xl:grid-cols-2">
        <div>
          <StepCard report={report} chosen={chosen} measure={measure} />
          <StrataCard
            title="By action verb"
            rowLabel="Verb"
            hint="By the action’s first word: the 50 most frequent, worst first."
            strata={chosen.strata.verb}
            measure={measure}
            isLowestFirst
          />
          <FailuresCard report={report} />
        </div>
        <div>
          {survival !== undefined && <SurvivalCard survival={survival} />}
          <StrataCard
            title="By number of changes"
            rowLabel="Changes"
            hint="How much the state changed in the recording."
            strata={chosen.strata.changes}
            measure={measure}
          />
          <StrataCard
            title="Worst trajectories"
            rowLabel="Trajectory"
            hint={describeLeftOut(chosen.strata_left_out.trajectory)}
            strata={chosen.strata.trajectory}
            measure={measure}
            runId={run.id}
          />
          {chosen.strata.tag.length > 0 && (
            <StrataCard
              title="By tag"
              rowLabel="Tag"
              hint="The most frequent 200."
              strata={chosen.strata.tag}
              measure={measure}
            />
          )}
          <EffortCard run={run} report={report} />
        </div>
      </div>
      <ProvenanceCard run={run} report={report} />
    </div>
  );
}

function describeLeftOut(count: number): string {
  const order = "From the lowest mean score on, failures as zero.";
  return count === 0 ? order : `${order} ${count} with a higher one are not shown.`;
}
