import type { EvaluateItem, EvaluateRequest, Presage } from "@presage/sdk";
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { meQueryKey } from "./accounts.ts";
import { usePresage } from "./client.ts";

/** Every version of every family. They change only with the server's version. */
export function evaluatorsQuery(presage: Presage) {
  return queryOptions({
    queryKey: ["evaluators"],
    queryFn: ({ signal }) => presage.evaluators.list({ signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The families' input fields and config schemas. */
export function evaluatorFamiliesQuery(presage: Presage) {
  return queryOptions({
    queryKey: ["evaluator-families"],
    queryFn: ({ signal }) => presage.evaluators.listFamilies({ signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Runs evaluators. `onSuccess` also gets what the caller passed along with the request. */
export function useEvaluate<Variables extends { request: EvaluateRequest }>(
  onSuccess?: (items: EvaluateItem[], variables: Variables) => void,
) {
  const presage = usePresage();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ request }: Variables) => presage.evaluate(request),
    onSuccess: (items, variables) => {
      onSuccess?.(items, variables);
      // A stored result changes nearly every list and total.
      if (variables.request.capture !== "none")
        void queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== meQueryKey[0] });
    },
  });
}
