import { describeComparison } from "@presage/contract/describe-comparison";
import type { Comparison, ComparisonCandidate, RunReport } from "@presage/sdk";
import { clsx } from "clsx";
import { CircleCheck, CircleHelp, CircleX } from "lucide-react";
import { formatCost, unbroken } from "../../../format/numbers.ts";
import {
  type ComparedEvaluator,
  evaluatorKey,
  evaluatorOptions,
  nameEvaluator,
} from "../../../parts/evaluator-names.ts";
import { costOf1000 } from "../../../parts/predictions.ts";
import { Card } from "../../../ui/card.tsx";
import { Select } from "../../../ui/form/select.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import { type MarkedRun, nameRun } from "../run-mark.tsx";

interface OutcomeCardProps {
  comparison: Comparison;
  evaluator: ComparedEvaluator;
  marked: readonly MarkedRun[];
  /** In the same order as `marked`; undefined until loaded. */
  reports: readonly (RunReport | undefined)[];
  onChooseEvaluator(key: string): void;
}

const looks: Record<ComparisonCandidate["outcome"], { icon: typeof CircleCheck; className: string }> = {
  better: { icon: CircleCheck, className: "text-pass" },
  worse: { icon: CircleX, className: "text-fail" },
  undecided: { icon: CircleHelp, className: "text-ink-3" },
};

/** The conclusions of the comparison in plain words: a sentence for each compared run. */
export function OutcomeCard({ comparison, evaluator, marked, reports, onChooseEvaluator }: OutcomeCardProps) {
  const { evaluators, preliminary } = comparison;
  const [reference] = marked;
  return (
    <Card
      title="Outcome"
      actions={
        evaluators.length > 1 && (
          <Select
            aria-label="Evaluator"
            className="max-w-72"
            value={evaluatorKey(evaluator)}
            options={evaluatorOptions(evaluators)}
            onChange={onChooseEvaluator}
          />
        )
      }
    >
      <ul aria-label="What the comparison says" className="divide-y divide-line">
        {evaluator.candidates.map((candidate) => {
          const one = marked.find(({ run }) => run.id === candidate.run_id);
          if (one === undefined || reference === undefined) return null;
          const { sentence, caveats } = describeComparison(candidate, {
            candidate: nameRun(one, marked),
            reference: nameRun(reference, marked),
            evaluator: nameEvaluator(evaluator, evaluators),
            preliminary,
          });
          const cost = describeCost(reports[marked.indexOf(one)], reports[0]);
          const { icon: Icon, className } = looks[candidate.outcome];
          return (
            <li key={candidate.run_id} className="flex gap-3 px-4 py-3">
              <Icon className={clsx("mt-0.5 size-4 shrink-0", className)} aria-hidden />
              <div className="flex min-w-0 flex-col gap-1 wrap-anywhere">
                <p className="font-medium">
                  <InlineText text={unbroken(sentence)} />
                </p>
                {caveats.map((caveat) => (
                  <p key={caveat} className="text-sm text-ink-2">
                    {caveat}
                  </p>
                ))}
                {cost !== undefined && <p className="text-sm text-ink-2 tabular-nums">{cost}</p>}
              </div>
            </li>
          );
        })}
      </ul>
    </Card>
  );
}

/** The cost of a run compared with the reference. Undefined if it is not known. */
function describeCost(report: RunReport | undefined, reference: RunReport | undefined): string | undefined {
  if (report === undefined || reference === undefined) return undefined;
  const [cost, other] = [costOf1000(report), costOf1000(reference)];
  if (cost === undefined || (cost === 0 && other === 0)) return undefined;
  const currency = report.cost?.currency ?? "";
  const said = `${formatCost(cost, currency)} for 1,000 predictions`;
  if (other === undefined) return `${said}; what the reference costs is not known.`;
  if (cost === other) return `${said}, as the reference.`;
  const by = formatCost(Math.abs(cost - other), currency);
  return `${said}, ${by} ${cost > other ? "more" : "less"} than the reference.`;
}
