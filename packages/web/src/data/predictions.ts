import type { Model, Prediction, Presage, WorldModelRequest } from "@presage/sdk";
import { queryOptions, skipToken, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { usePresage } from "./client.ts";

export function deploymentsQuery(presage: Presage) {
  return queryOptions({
    queryKey: ["deployments"],
    queryFn: ({ signal }) => presage.deployments.list({ signal }),
    staleTime: 5_000,
  });
}

export function modelsQuery(presage: Presage) {
  return queryOptions({
    queryKey: ["models"],
    queryFn: ({ signal }) => presage.models.list({ signal }),
    staleTime: 60_000,
  });
}

/** Whether this is the built-in sandbox rather than a language model. */
export function isSandbox({ owned_by, description }: Model): boolean {
  return owned_by === "presage" && typeof description === "string" && description.includes("simulator");
}

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

/** State that outlives its page, until the tab is reloaded. */
export function useTabState<State>(
  name: string,
  initial: State,
): [State, (change: (state: State) => State) => void] {
  const queryClient = useQueryClient();
  const queryKey = ["kept state", name];
  const { data = initial } = useQuery({
    queryKey,
    queryFn: skipToken,
    initialData: initial,
    gcTime: Number.POSITIVE_INFINITY,
    structuralSharing: false,
  });
  return [data, (change) => queryClient.setQueryData<State>(queryKey, (state = initial) => change(state))];
}
