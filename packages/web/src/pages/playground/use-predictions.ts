import { composePrompt } from "@presage/contract/compose-prompt";
import type { Prediction, PromptMessage, WorldModelRequest } from "@presage/sdk";
import { usePredict } from "../../data/predictions.ts";
import { useTabState } from "../../data/use-tab-state.ts";
import { readTiming, type Timing } from "./answer/read-timing.ts";

/** A prediction and the request that it was made from. */
export interface Answer {
  /** Counts up from 1. */
  number: number;
  at: string;
  request: WorldModelRequest;
  messages: PromptMessage[];
  prediction: Prediction;
  timing: Timing | undefined;
  requestId: string | undefined;
}

const maxAnswers = 20;
const noAnswers: readonly Answer[] = [];

/** Requests predictions, one at a time, and remembers the answers until the tab is reloaded. */
export function usePredictions() {
  const [answers, changeAnswers] = useTabState("playground answers", noAnswers);
  const { mutate, isPending, error, submittedAt, cancel } = usePredict((prediction, headers, request) => {
    const answer = {
      at: new Date().toISOString(),
      request,
      messages: composePrompt(request.context, request.interaction),
      prediction,
      timing: readTiming(headers.get("server-timing")),
      requestId: headers.get("x-request-id") ?? undefined,
    };
    changeAnswers((earlier) => {
      const number = (earlier[0]?.number ?? 0) + 1;
      return [{ number, ...answer }, ...earlier].slice(0, maxAnswers);
    });
  });
  const wasCancelled = error instanceof DOMException && error.name === "AbortError";

  return {
    /** Newest first. */
    answers,
    isPending,
    startedAtMs: submittedAt,
    error: wasCancelled ? null : error,
    wasCancelled,
    predict: mutate,
    cancel,
  };
}
