import { useQuery } from "@tanstack/react-query";
import { latestProfilesQuery } from "../../../data/evaluation/evaluator-profiles.ts";
import { evaluatorFamiliesQuery } from "../../../data/evaluation/evaluators.ts";
import { findQueryError } from "../../../data/query-errors.ts";
import { usePresage } from "../../../data/use-presage.ts";
import { EvaluatorPicker, evaluatorChoices } from "../../../parts/evaluators.tsx";
import { Button } from "../../../ui/button.tsx";
import { ErrorNotice } from "../../../ui/error-notice.tsx";
import { TextAreaField } from "../../../ui/form/text-field.tsx";
import { SkeletonRows } from "../../../ui/skeleton.tsx";
import type { ModelResponse } from "../use-predictions.ts";
import { Outcomes } from "./outcomes.tsx";
import type { useEvaluations } from "./use-evaluations.ts";

interface EvaluateResponseProps {
  response: ModelResponse;
  evaluations: ReturnType<typeof useEvaluations>;
  goldAnswer: string;
  onGoldAnswer(goldAnswer: string): void;
}

export function EvaluateResponse({ response, evaluations, goldAnswer, onGoldAnswer }: EvaluateResponseProps) {
  const presage = usePresage();
  const families = useQuery(evaluatorFamiliesQuery(presage));
  const profiles = useQuery(latestProfilesQuery(presage));
  const failure = findQueryError([families, profiles]);
  const hasSystemTurn = response.messages.some(({ role }) => role === "system");
  const groups = evaluatorChoices(families.data ?? [], profiles.data ?? [], { hasSystemTurn });
  const chosen = groups
    .flatMap(({ choices }) => choices)
    .filter(({ id, obstacle }) => evaluations.chosenIds.has(id) && obstacle === undefined);
  const needsGoldAnswer = chosen.some((choice) => choice.needsGoldAnswer);
  const outcomes = evaluations.outcomesOf(response);
  const isMine = evaluations.responseNumber === response.number;

  function evaluate() {
    const usesGoldAnswer = needsGoldAnswer && goldAnswer !== "";
    evaluations.evaluate(response, chosen, usesGoldAnswer ? goldAnswer : undefined);
  }

  return (
    <section aria-label="Evaluate this response" className="flex flex-col gap-3 border-t border-line pt-4">
      <header className="flex flex-wrap items-center gap-3">
        <div className="min-w-0 flex-1">
          <h3 className="text-sm font-semibold">Evaluate this</h3>
          <p className="text-xs text-ink-3">
            Results are stored under the app <code className="font-mono">playground</code>.
          </p>
        </div>
        <Button onClick={evaluate} disabled={chosen.length === 0} isBusy={evaluations.isPending && isMine}>
          {chosen.length < 2 ? "Evaluate" : `Evaluate with ${chosen.length}`}
        </Button>
      </header>
      {isMine && evaluations.error !== null && <ErrorNotice error={evaluations.error} onRetry={evaluate} />}
      {outcomes !== undefined && <Outcomes items={outcomes} />}
      {failure !== undefined && <ErrorNotice error={failure.error} onRetry={failure.retry} />}
      {failure === undefined && (families.isPending || profiles.isPending) && (
        <SkeletonRows count={4} className="h-7" />
      )}
      {groups.length > 0 && profiles.data !== undefined && (
        <EvaluatorPicker groups={groups} chosenIds={evaluations.chosenIds} onChoose={evaluations.choose} />
      )}
      {needsGoldAnswer && (
        <TextAreaField
          label="Gold answer"
          hint="The environment’s actual response. Without it, evaluators that need it end as “Unusable input”."
          value={goldAnswer}
          onChange={onGoldAnswer}
        />
      )}
    </section>
  );
}
