import type { EvaluateItem } from "@presage/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { usePresage } from "../../../data/use-presage.ts";
import { useTabState } from "../../../data/use-tab-state.ts";
import type { Answer } from "../use-predictions.ts";
import type { EvaluatorChoice } from "./evaluator-choices.ts";

interface Evaluation {
  answer: Answer;
  choices: readonly EvaluatorChoice[];
  /** Undefined: none is given. */
  goldAnswer: string | undefined;
}

/** The app that results of this page are filed under. */
export const playgroundApp = "playground";

const noOutcomes: ReadonlyMap<number, readonly EvaluateItem[]> = new Map();

/** Evaluates answers, and remembers what came of each until the tab is loaded anew. */
export function useEvaluations() {
  const presage = usePresage();
  const queryClient = useQueryClient();
  const [chosenIds, setChosenIds] = useState<ReadonlySet<string>>(new Set());
  const [outcomes, changeOutcomes] = useTabState("playground outcomes", noOutcomes);

  const { mutate, isPending, error, variables } = useMutation({
    mutationFn: ({ answer, choices, goldAnswer }: Evaluation) => {
      const turnOf = (role: string) => answer.messages.find((message) => message.role === role)?.content;
      return presage.evaluate({
        app: playgroundApp,
        evaluators: choices.map(({ family, profile }) => ({ evaluator: family, profile_name: profile })),
        evaluated_model_system_prompt: turnOf("system"),
        evaluated_model_input: turnOf("user"),
        evaluated_model_output: answer.prediction.response.content,
        evaluated_model_gold_answer: goldAnswer,
      });
    },
    onSuccess: (items, { answer }) => {
      changeOutcomes((earlier) => new Map(earlier).set(answer.number, items));
      // The explorer and the figures have more to show now.
      void queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== "me" });
    },
  });

  return {
    chosenIds,
    choose: setChosenIds,
    evaluate: mutate,
    /** The number of the answer that is being evaluated, or was last. */
    answerNumber: variables?.answer.number,
    isPending,
    error,
    outcomesOf: (answer: Answer) => outcomes.get(answer.number),
  };
}
