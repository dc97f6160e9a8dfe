import type { Presage } from "@presage/sdk";
import { queryOptions } from "@tanstack/react-query";

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
