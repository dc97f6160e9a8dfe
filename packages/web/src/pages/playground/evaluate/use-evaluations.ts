import type { EvaluateItem, EvaluateRequest } from "@presage/sdk";
import { useState } from "react";
import { useEvaluate } from "../../../data/evaluations.ts";
import { useTabState } from "../../../data/use-tab-state.ts";
import type { Answer } from "../use-predictions.ts";
import type { EvaluatorChoice } from "./evaluator-choices.ts";

/** The app that the playground's results belong to. */
export const playgroundApp = "playground";

const noOutcomes: ReadonlyMap<number, readonly EvaluateItem[]> = new Map();

/** Evaluates answers and remembers the outcomes until the tab is reloaded. */
export function useEvaluations() {
  const [chosenIds, setChosenIds] = useState<ReadonlySet<string>>(new Set());
  const [outcomes, changeOutcomes] = useTabState("playground outcomes", noOutcomes);
  const { mutate, isPending, error, variables } = useEvaluate<{ answer: Answer; request: EvaluateRequest }>(
    (items, { answer }) => changeOutcomes((earlier) => new Map(earlier).set(answer.number, items)),
  );

  return {
    chosenIds,
    choose: setChosenIds,
    evaluate(answer: Answer, choices: readonly EvaluatorChoice[], goldAnswer: string | undefined) {
      const turnOf = (role: string) => answer.messages.find((message) => message.role === role)?.content;
      const request = {
        app: playgroundApp,
        evaluators: choices.map(({ family, profile }) => ({ evaluator: family, profile_name: profile })),
        evaluated_model_system_prompt: turnOf("system"),
        evaluated_model_input: turnOf("user"),
        evaluated_model_output: answer.prediction.response.content,
        evaluated_model_gold_answer: goldAnswer,
      };
      mutate({ answer, request });
    },
    /** The number of the answer that is being evaluated, or was evaluated last. */
    answerNumber: variables?.answer.number,
    isPending,
    error,
    outcomesOf: (answer: Answer) => outcomes.get(answer.number),
  };
}
