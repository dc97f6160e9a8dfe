import type { ApiKeyResponse } from "@presage/sdk";

export type KeyState = "active" | "expires soon" | "expired" | "revoked";

const soonMs = 7 * 86_400_000;

export function keyState(
  { revoked_at, expires_at }: Pick<ApiKeyResponse, "revoked_at" | "expires_at">,
  nowMs: number,
): KeyState {
  if (revoked_at) return "revoked";
  if (!expires_at) return "active";
  const leftMs = Date.parse(expires_at) - nowMs;
  if (leftMs <= 0) return "expired";
  return leftMs <= soonMs ? "expires soon" : "active";
}
