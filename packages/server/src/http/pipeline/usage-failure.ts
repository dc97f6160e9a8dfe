import type { ErrorCategory, UsageFailure } from "@presage/contract";
import { clientDisconnectedStatus } from "./errors.ts";

/** Why a request failed, as usage counts it; undefined where it did not. */
export function usageFailureOf(
  status: number,
  category: ErrorCategory | undefined,
): UsageFailure | undefined {
  if (status < 400) return undefined;
  if (category !== undefined) return category;
  return status < 500 && status !== clientDisconnectedStatus ? "invalid" : "other";
}
