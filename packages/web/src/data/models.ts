import type { Model, Presage } from "@presage/sdk";
import { queryOptions } from "@tanstack/react-query";

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
