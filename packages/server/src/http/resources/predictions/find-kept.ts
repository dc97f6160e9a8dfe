import type { Deployments } from "../../../upstream/deployments/create-deployments.ts";
import type { Sharing, UpstreamCompletion } from "../../../upstream/upstream.ts";
import { deploymentHeader } from "../../pipeline/exchange.ts";
import { recordCompletion } from "../../pipeline/measure-completion.ts";
import type { CallWithCaller } from "../../pipeline/route.ts";
import type { Services } from "../../services.ts";
import { decideFor } from "./capture-prediction.ts";
import { readMaxAge } from "./read-max-age.ts";
import { readSessionHeader } from "./read-session-header.ts";

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

/**
 * The kept completion for a body that had a hit before: what it asks for is known without reading it. Undefined if there is none, or if
 * the request has to be read for another reason: to capture or to trace it.
 */
export function findKept(
  { deployments, capture }: Pick<Services, "deployments" | "capture">,
  call: CallWithCaller,
  sharing: Sharing | undefined,
): UpstreamCompletion | undefined {
  const { request, exchange } = call;
  if (sharing === undefined || exchange.span !== undefined) return undefined;
  if (decideFor(capture, call) !== "off") return undefined;
  const name = request.headers.get(deploymentHeader);
  const asked = name === null ? deployments.getDefault() : deployments.find(name);
  const kept = asked?.upstream.findKept(sharing);
  if (kept === undefined) return undefined;
  readSessionHeader(request.headers);
  recordCompletion(exchange, kept);
  return kept;
}
