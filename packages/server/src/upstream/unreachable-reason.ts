/** Why an upstream could not be reached, for the log and as a metric's label. */
export type UnreachableReason = "refused" | "reset" | "name" | "certificate" | "tls" | "network" | "other";

const reasonOfCode = new Map<string, UnreachableReason>([
  ["ECONNREFUSED", "refused"],
  ["ECONNRESET", "reset"],
  ["EPIPE", "reset"],
  ["ENOTFOUND", "name"],
  ["EAI_AGAIN", "name"],
  ["EPROTO", "tls"],
  ["EHOSTUNREACH", "network"],
  ["ENETUNREACH", "network"],
  ["ETIMEDOUT", "network"],
]);

/** OpenSSL's codes for a certificate that it does not accept, such as DEPTH_ZERO_SELF_SIGNED_CERT or UNABLE_TO_VERIFY_LEAF_SIGNATURE. */
const ofCertificate = /CERT|ISSUER|SIGNATURE|CRL|INVALID_CA|PATH_LENGTH|INVALID_PURPOSE|HOSTNAME_MISMATCH/;

/** The reason for the code of a failed connection. */
export function unreachableReason(code: string): UnreachableReason {
  return reasonOfCode.get(code) ?? (ofCertificate.test(code) ? "certificate" : "other");
}
