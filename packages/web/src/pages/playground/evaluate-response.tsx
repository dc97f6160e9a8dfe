import { defaultProfileName } from "@presage/contract/defaults";
import type { EvaluateItem, EvaluateRequest } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { findQueryError, usePresage } from "../../data/client.ts";
import { evaluatorFamiliesQuery, latestProfilesQuery, useEvaluate } from "../../data/evaluators.ts";
import { useTabState } from "../../data/predictions.ts";
import { formatScore } from "../../format/numbers.ts";
import { plainName, withoutVersion } from "../../format/words.ts";
import { type EvaluatorChoice, EvaluatorPicker, evaluatorChoices } from "../../parts/evaluators.tsx";
import { Button } from "../../ui/button.tsx";
import { TextAreaField } from "../../ui/form/fields.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { InlineText } from "../../ui/untrusted-text/inline-text.tsx";
import { VerdictBadge } from "../../ui/verdict.tsx";
import type { ModelResponse } from "./use-predictions.ts";

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
  const choices = groups.flatMap(({ choices }) => choices);
  const chosenIds = evaluations.chosenIds ?? idsOfFirst(choices, goldAnswer);
  const chosen = choices.filter(({ id, obstacle }) => chosenIds.has(id) && obstacle === undefined);
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
        <h3 className="min-w-0 flex-1 text-sm font-semibold">Evaluate this</h3>
        <Button onClick={evaluate} disabled={chosen.length === 0} isBusy={evaluations.isPending && isMine}>
          {chosen.length < 2 ? "Evaluate" : `Evaluate with ${chosen.length}`}
        </Button>
      </header>
      {isMine && evaluations.error !== null && <ErrorNotice error={evaluations.error} onRetry={evaluate} />}
      {outcomes !== undefined && <Outcomes items={outcomes} />}
      {needsGoldAnswer && (
        <TextAreaField
          label="Gold answer"
          hint="The environment’s actual response. Without it, evaluators that need it end as “Unusable input”."
          value={goldAnswer}
          onChange={onGoldAnswer}
        />
      )}
      {failure !== undefined && <ErrorNotice error={failure.error} onRetry={failure.retry} />}
      {failure === undefined && (families.isPending || profiles.isPending) && (
        <SkeletonRows count={4} className="h-7" />
      )}
      {groups.length > 0 && profiles.data !== undefined && (
        <EvaluatorPicker groups={groups} chosenIds={chosenIds} onChoose={evaluations.choose} />
      )}
      <p className="text-xs text-ink-3">
        Results are stored under the app <code className="font-mono">playground</code>.
      </p>
    </section>
  );
}

/** If there is a gold answer, the simplest comparison with it. */
function idsOfFirst(choices: readonly EvaluatorChoice[], goldAnswer: string): ReadonlySet<string> {
  const isPlain = ({ family, profile }: EvaluatorChoice) =>
    family === "exact-match" && profile === defaultProfileName;
  return new Set(goldAnswer === "" ? [] : choices.filter(isPlain).map(({ id }) => id));
}

/** The app that the playground's results belong to. */
const playgroundApp = "playground";

const noOutcomes: ReadonlyMap<number, readonly EvaluateItem[]> = new Map();

/** Evaluates responses and remembers the outcomes until the tab is reloaded. */
export function useEvaluations() {
  const [chosenIds, setChosenIds] = useState<ReadonlySet<string>>();
  const [outcomes, changeOutcomes] = useTabState("playground outcomes", noOutcomes);
  const { mutate, isPending, error, variables } = useEvaluate<{
    response: ModelResponse;
    request: EvaluateRequest;
  }>((items, { response }) => changeOutcomes((earlier) => new Map(earlier).set(response.number, items)));

  return {
    chosenIds,
    choose: setChosenIds,
    evaluate(response: ModelResponse, choices: readonly EvaluatorChoice[], goldAnswer: string | undefined) {
      const turnOf = (role: string) => response.messages.find((message) => message.role === role)?.content;
      const request = {
        app: playgroundApp,
        evaluators: choices.map(({ family, profile }) => ({ evaluator: family, profile_name: profile })),
        evaluated_model_system_prompt: turnOf("system"),
        evaluated_model_input: turnOf("user"),
        evaluated_model_output: response.prediction.response.content,
        evaluated_model_gold_answer: goldAnswer,
      };
      mutate({ response, request });
    },
    /** The number of the response that is being evaluated, or was evaluated last. */
    responseNumber: variables?.response.number,
    isPending,
    error,
    outcomesOf: (response: ModelResponse) => outcomes.get(response.number),
  };
}

/** One row for each evaluator, with its verdict or error. */
function Outcomes({ items }: { items: readonly EvaluateItem[] }) {
  return (
    <ul aria-label="Results" className="rounded-md border border-line">
      {items.map((item) => (
        <li
          key={`${item.evaluator_id} ${item.profile_name}`}
          className="flex flex-col gap-1.5 border-b border-line px-3 py-2 last:border-b-0"
        >
          <Outcome item={item} />
        </li>
      ))}
    </ul>
  );
}

function Outcome({ item }: { item: EvaluateItem }) {
  const { evaluator_id, profile_name, status, error_message, evaluation_result: result } = item;
  const family = withoutVersion(evaluator_id);
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
        <VerdictBadge status={status} pass={result?.pass ?? null} />
        <span className="min-w-0 flex-1 basis-40 truncate">
          <span className="font-medium">{family}</span>{" "}
          <span className="text-ink-3">{plainName(profile_name ?? "")}</span>
        </span>
        {result !== null && (
          <span className="text-ink-2 tabular-nums">
            <span className="sr-only">Score </span>
            {formatScore(result.score_raw)}
          </span>
        )}
        <OutcomeLink item={item} />
      </div>
      {error_message !== null && (
        <p className="text-xs wrap-anywhere text-warn">
          <InlineText text={error_message} />
        </p>
      )}
      {result?.explanation && (
        <p className="text-xs wrap-anywhere text-ink-2">
          <InlineText text={result.explanation} />
        </p>
      )}
    </>
  );
}

const othersAlike = {
  failed: ["error", "See all errors"],
  validation_error: ["unusable-input", "See all unusable inputs"],
  contradictory: ["contradictory", "See all contradictory verdicts"],
  not_applicable: ["not-applicable", "See all that are left out"],
} as const;

function OutcomeLink({ item: { status, evaluation_result: result } }: { item: EvaluateItem }) {
  const look = "text-accent-ink underline-offset-2 hover:underline";
  if (result?.id) {
    return (
      <Link to="/evaluations" search={{ app: playgroundApp, result: result.id }} className={look}>
        Open
      </Link>
    );
  }
  if (status === "success") return null;
  const [verdict, label] = othersAlike[status];
  return (
    <Link to="/evaluations" search={{ app: playgroundApp, verdict }} className={look}>
      {label}
    </Link>
  );
}
