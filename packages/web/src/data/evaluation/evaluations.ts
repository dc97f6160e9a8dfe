import type { EvaluateItem, EvaluateRequest } from "@presage/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { meQueryKey } from "../me.ts";
import { usePresage } from "../use-presage.ts";

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
