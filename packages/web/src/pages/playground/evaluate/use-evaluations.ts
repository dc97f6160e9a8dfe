import type { EvaluateItem, EvaluateRequest } from "@presage/sdk";
import { useState } from "react";
import { useEvaluate } from "../../../data/evaluation/evaluations.ts";
import { useTabState } from "../../../data/use-tab-state.ts";
import type { EvaluatorChoice } from "../../../parts/evaluators.tsx";
import type { ModelResponse } from "../use-predictions.ts";

/** The app that the playground's results belong to. */
export const playgroundApp = "playground";

const noOutcomes: ReadonlyMap<number, readonly EvaluateItem[]> = new Map();

/** Evaluates responses and remembers the outcomes until the tab is reloaded. */
export function useEvaluations() {
  const [chosenIds, setChosenIds] = useState<ReadonlySet<string>>(new Set());
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
