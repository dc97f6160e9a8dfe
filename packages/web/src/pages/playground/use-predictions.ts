import { composePrompt } from "@presage/contract/compose-prompt";
import type { Prediction, PromptMessage, WorldModelRequest } from "@presage/sdk";
import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { usePresage } from "../../data/use-presage.ts";
import { useTabState } from "../../data/use-tab-state.ts";
import { readTiming, type Timing } from "./answer/read-timing.ts";

/** What came of one prediction, and what it was made from. */
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

/** Asks for predictions, one at a time, and remembers the answers until the tab is loaded anew. */
export function usePredictions() {
  const presage = usePresage();
  const [answers, changeAnswers] = useTabState("playground answers", noAnswers);
  const call = useRef<AbortController>(undefined);
  useEffect(() => () => call.current?.abort(), []);

  const { mutate, isPending, error, variables, submittedAt } = useMutation({
    mutationFn: async (request: WorldModelRequest) => {
      call.current = new AbortController();
      let headers = new Headers();
      const prediction = await presage.predict(request, {
        signal: call.current.signal,
        onAnswer: (answer) => {
          headers = answer.headers;
        },
      });
      return {
        at: new Date().toISOString(),
        request,
        messages: composePrompt(request.context, request.interaction),
        prediction,
        timing: readTiming(headers.get("server-timing")),
        requestId: headers.get("x-request-id") ?? undefined,
      };
    },
    onSuccess: (answer) =>
      changeAnswers((earlier) => {
        const number = (earlier[0]?.number ?? 0) + 1;
        return [{ number, ...answer }, ...earlier].slice(0, maxAnswers);
      }),
  });

  return {
    /** The newest first. */
    answers,
    isPending,
    startedAtMs: submittedAt,
    error: isAbort(error) ? null : error,
    wasCancelled: isAbort(error),
    /** What was asked for last. */
    request: variables,
    predict: mutate,
    cancel: () => call.current?.abort(),
  };
}

function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}
