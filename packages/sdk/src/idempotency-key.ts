/** 128 random bits in hexadecimal. `crypto.randomUUID` is missing on pages that are not served by https. */
export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
