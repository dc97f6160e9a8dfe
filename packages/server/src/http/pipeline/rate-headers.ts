import type { RateStatus } from "../../prediction/admission.ts";

/** OpenAI's names for what a key has left. */
export function rateHeaders({ limit, remaining }: RateStatus): [name: string, value: string][] {
  return [
    ["x-ratelimit-limit-requests", String(limit)],
    ["x-ratelimit-remaining-requests", String(remaining)],
  ];
}
