import type { Prediction, WorldModelRequest } from "@presage/sdk";
import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { usePresage } from "./use-presage.ts";

/** What is asked, and the deployment that is named. Undefined: the default one answers. */
export interface PredictionRequest {
  request: WorldModelRequest;
  deployment: string | undefined;
}

/** Requests one prediction at a time. Leaving the page cancels it. */
export function usePredict(
  onSuccess: (prediction: Prediction, headers: Headers, asked: PredictionRequest) => void,
) {
  const presage = usePresage();
  const call = useRef<AbortController>(undefined);
  useEffect(() => () => call.current?.abort(), []);

  const mutation = useMutation({
    mutationFn: async ({ request, deployment }: PredictionRequest) => {
      call.current = new AbortController();
      let headers = new Headers();
      const prediction = await presage.predict(request, {
        signal: call.current.signal,
        deployment,
        onResponse: (response) => {
          headers = response.headers;
        },
      });
      return { prediction, headers };
    },
    onSuccess: ({ prediction, headers }, asked) => onSuccess(prediction, headers, asked),
  });
  return { ...mutation, cancel: () => call.current?.abort() };
}
