import { deploymentHeader } from "../http/exchange.ts";
import type { CallWithCaller } from "../http/route.ts";
import type { Deployments } from "../upstream/deployments.ts";
import type { Sharing } from "../upstream/upstream.ts";
import { readMaxAge } from "./read-max-age.ts";

/** Making the digest of a longer body would delay other requests. */
const maxRecognisedBytes = 64 * 1024;

/** Which completions of equal requests the caller takes; undefined: none. */
export function readSharing(
  deployments: Deployments,
  { request: { headers }, caller: { accountId } }: CallWithCaller,
  operation: "predict" | "chat",
  body: Uint8Array,
): Sharing | undefined {
  if (!deployments.areCached()) return undefined;
  const maxAgeS = readMaxAge(headers.get("cache-control"));
  if (maxAgeS === undefined) return undefined;
  if (body.length > maxRecognisedBytes) return { accountId, maxAgeS };
  // Everything that the request to the upstream is made from.
  const besideBody = [deployments.revision(), operation, accountId, headers.get(deploymentHeader)];
  const bodyDigest = new Bun.CryptoHasher("sha256")
    .update(JSON.stringify(besideBody))
    .update(body)
    .digest("base64url");
  return { accountId, maxAgeS, bodyDigest };
}
