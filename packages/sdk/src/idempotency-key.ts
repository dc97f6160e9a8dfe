import type { Call, WriteOptions } from "./call.ts";

/** Makes a write repeatable: one key for all attempts of a call. */
export function underOneKey(options: WriteOptions = {}): Required<Pick<Call, "headers" | "isRepeatable">> {
  return {
    headers: { "idempotency-key": options.idempotencyKey ?? newIdempotencyKey() },
    isRepeatable: true,
  };
}

/** 128 random bits in hexadecimal. `crypto.randomUUID` is missing on pages that are not served over https. */
function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
