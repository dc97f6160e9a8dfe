import type { Call, WriteOptions } from "./call.ts";

/** Makes a write repeatable: one key for a call and all its retries. */
export function underOneKey(options: WriteOptions = {}): Required<Pick<Call, "headers" | "isRepeatable">> {
  return {
    headers: { "idempotency-key": options.idempotencyKey ?? newIdempotencyKey() },
    isRepeatable: true,
  };
}

/** 128 random bits in hexadecimal. `crypto.randomUUID` does not exist on pages served over plain http. */
function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
