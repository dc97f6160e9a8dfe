import type { Presage } from "@presage/sdk";
import { queryOptions } from "@tanstack/react-query";

/** The families' input fields and config schemas. */
export function evaluatorFamiliesQuery(presage: Presage) {
  return queryOptions({
    queryKey: ["evaluator-families"],
    queryFn: ({ signal }) => presage.evaluators.listFamilies({ signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}
