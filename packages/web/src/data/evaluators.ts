import type { Presage } from "@presage/sdk";
import { queryOptions } from "@tanstack/react-query";

/** Every version of every family. They change with the server's version only. */
export function evaluatorsQuery(presage: Presage) {
  return queryOptions({
    queryKey: ["evaluators"],
    queryFn: ({ signal }) => presage.evaluators.list({ signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** What the families look at and how they can be set up. */
export function evaluatorFamiliesQuery(presage: Presage) {
  return queryOptions({
    queryKey: ["evaluator-families"],
    queryFn: ({ signal }) => presage.evaluators.listFamilies({ signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}
