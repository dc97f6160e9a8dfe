import { composePrompt } from "@presage/contract/compose-prompt";
import type { Prediction, PromptMessage, WorldModelRequest, WorldPreview } from "@presage/sdk";
import { readTiming, type Timing, usePredict, useTabState } from "../../data/predictions.ts";

/** A prediction and the request that it was made from. */
export interface ModelResponse {
  /** Counted from 1. */
  number: number;
  at: string;
  request: WorldModelRequest;
  messages: PromptMessage[];
  prediction: Prediction;
  /** Only for a prediction through a world. */
  preview: WorldPreview | undefined;
  timing: Timing | undefined;
  requestId: string | undefined;
  /** The deployment that answered. */
  deployment: string | undefined;
}

const maxResponses = 20;
const noResponses: readonly ModelResponse[] = [];

/** Requests predictions, one at a time, and remembers the responses until the tab is reloaded. */
export function usePredictions() {
  const [responses, changeResponses] = useTabState("playground responses", noResponses);
  const { mutate, isPending, error, submittedAt, cancel } = usePredict((predicted, { request }) => {
    const { prediction, preview, headers } = predicted;
    const response = {
      at: new Date().toISOString(),
      request,
      messages: preview?.messages ?? composePrompt(request.context, request.interaction),
      prediction,
      preview,
      timing: readTiming(headers.get("server-timing")),
      requestId: headers.get("x-request-id") ?? undefined,
      deployment: headers.get("x-presage-deployment") ?? undefined,
    };
    changeResponses((earlier) => {
      const number = (earlier[0]?.number ?? 0) + 1;
      return [{ number, ...response }, ...earlier].slice(0, maxResponses);
    });
  });
  const wasCancelled = error instanceof DOMException && error.name === "AbortError";

  return {
    /** Newest first. */
    responses,
    isPending,
    startedAtMs: submittedAt,
    error: wasCancelled ? null : error,
    wasCancelled,
    predict: mutate,
    cancel,
  };
}
