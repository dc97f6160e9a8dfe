import type { CompletionRequest } from "./upstream.ts";

/**
 * Which requests of a deployment are asked once: none, those that sample nothing (temperature 0), or also those with a `seed`, for
 * an upstream that keeps to it.
 */
export type CachePolicy = "off" | "deterministic" | "seeded";

/** Whether the same request may have the same response. */
export function isRepeatable({ temperature, seed }: CompletionRequest, policy: CachePolicy): boolean {
  if (policy === "off") return false;
  return temperature === 0 || (policy === "seeded" && seed !== undefined && seed !== null);
}
