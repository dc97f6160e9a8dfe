import type { Services } from "../app/services.ts";
import { deploymentHeader } from "../http/exchange.ts";
import type { CallWithCaller } from "../http/route.ts";
import type { Sharing, UpstreamCompletion } from "../upstream/upstream.ts";
import { decideCapture } from "./capture-prediction.ts";
import { recordCompletion } from "./measure-completion.ts";
import { readSessionHeader } from "./read-session-header.ts";

/**
 * The cached completion for a body that had a hit before: its meaning is known without parsing it. Undefined if there is none, or if
 * the request has to be read for another reason: to capture or to trace it.
 */
export function findCached(
  { deployments, capture }: Pick<Services, "deployments" | "capture">,
  call: CallWithCaller,
  sharing: Sharing | undefined,
): UpstreamCompletion | undefined {
  const { request, exchange } = call;
  if (sharing === undefined || exchange.span !== undefined) return undefined;
  if (decideCapture(capture, call) !== "off") return undefined;
  const name = request.headers.get(deploymentHeader);
  const asked = name === null ? deployments.getDefault() : deployments.find(name);
  const cached = asked?.upstream.findCached(sharing);
  if (cached === undefined) return undefined;
  readSessionHeader(request.headers);
  recordCompletion(exchange, cached);
  return cached;
}
