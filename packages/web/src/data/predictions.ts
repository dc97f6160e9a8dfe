import type { Prediction, WorldModelRequest } from "@presage/sdk";
import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { usePresage } from "./use-presage.ts";

/** Requests one prediction at a time. Leaving the page cancels it. */
export function usePredict(
  onSuccess: (prediction: Prediction, headers: Headers, request: WorldModelRequest) => void,
) {
  const presage = usePresage();
  const call = useRef<AbortController>(undefined);
  useEffect(() => () => call.current?.abort(), []);

  const mutation = useMutation({
    mutationFn: async (request: WorldModelRequest) => {
      call.current = new AbortController();
      let headers = new Headers();
      const prediction = await presage.predict(request, {
        signal: call.current.signal,
        onResponse: (response) => {
          headers = response.headers;
        },
      });
      return { prediction, headers };
    },
    onSuccess: ({ prediction, headers }, request) => onSuccess(prediction, headers, request),
  });
  return { ...mutation, cancel: () => call.current?.abort() };
}
