import { describeComparison } from "@presage/contract/describe-runs";
import type { Comparison, ComparisonCandidate } from "@presage/sdk";
import { clsx } from "clsx";
import { CircleCheck, CircleHelp, CircleX } from "lucide-react";
import { type ComparedEvaluator, evaluatorKey, nameEvaluator } from "../../../parts/evaluators.tsx";
import { Card } from "../../../ui/card.tsx";
import { Select } from "../../../ui/form/select.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import { type MarkedRun, nameRun } from "../run-mark.tsx";

interface OutcomeCardProps {
  comparison: Comparison;
  evaluator: ComparedEvaluator;
  marked: readonly MarkedRun[];
  onChooseEvaluator(key: string): void;
}

const looks: Record<ComparisonCandidate["outcome"], { icon: typeof CircleCheck; className: string }> = {
  better: { icon: CircleCheck, className: "text-pass" },
  worse: { icon: CircleX, className: "text-fail" },
  undecided: { icon: CircleHelp, className: "text-ink-3" },
};

/** What the comparison says, in plain words: a sentence for each compared run. */
export function OutcomeCard({ comparison, evaluator, marked, onChooseEvaluator }: OutcomeCardProps) {
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
            options={evaluators.map((one) => ({
              value: evaluatorKey(one),
              label: nameEvaluator(one, evaluators),
            }))}
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
          const { icon: Icon, className } = looks[candidate.outcome];
          return (
            <li key={candidate.run_id} className="flex gap-3 px-4 py-3">
              <Icon className={clsx("mt-0.5 size-4 shrink-0", className)} aria-hidden />
              <div className="flex min-w-0 flex-col gap-1 wrap-anywhere">
                <p className="font-medium">
                  <InlineText text={sentence} />
                </p>
                {caveats.map((caveat) => (
                  <p key={caveat} className="text-sm text-ink-2">
                    {caveat}
                  </p>
                ))}
              </div>
            </li>
          );
        })}
      </ul>
    </Card>
  );
}
