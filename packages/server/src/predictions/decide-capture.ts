/** Which outcomes of a request are kept. */
export type Captures = "off" | "failures" | "all";

/**
 * Which outcomes of a request are kept under a setting (as `CaptureSetting` of the contract). Of a share, the first 32 bits of the
 * SHA-256 of the request's id decide, as a fraction of 2^32, so that anybody can tell afterwards which requests are kept.
 */
export function captureOf(setting: string, requestId: string): Captures {
  if (setting === "off" || setting === "failures" || setting === "all") return setting;
  return fractionOf(requestId) < Number(setting) ? "all" : "off";
}

function fractionOf(requestId: string): number {
  return new Bun.CryptoHasher("sha256").update(requestId).digest().readUInt32BE() / 2 ** 32;
}
