import type { CallWithCaller } from "../../http/call.ts";
import { UpstreamError } from "../../platform/errors.ts";
import type { Answer } from "../../platform/storage/answer-columns.ts";
import { readAnswer, refuseControlTokens, unusable } from "../../predictions/answer.ts";
import { measureCompletion, upstreamFields } from "../../predictions/predict.ts";
import type { Deployments } from "../../upstream/deployments.ts";
import type { Sharing } from "../../upstream/upstream.ts";
import type { Ask } from "./step-episode.ts";

/** Kept answers are taken whatever their age: in a group of rollouts the same action meets the same world. */
const anyAge = Number.MAX_SAFE_INTEGER;

/** Asks a deployment for a step, counted and traced with the request. */
export function askDeployment(
  { deployments }: { deployments: Deployments },
  { exchange, caller }: Pick<CallWithCaller, "exchange" | "caller">,
): Ask {
  return async ({ deployment: name, messages, params, acceptsTruncated, session }, signal) => {
    const deployment = name === undefined ? deployments.getDefault() : deployments.find(name);
    if (deployment === undefined)
      throw new UpstreamError("unavailable", `There is no deployment named ${JSON.stringify(name)} now.`);
    const sharing: Sharing | undefined = deployments.areCached()
      ? { accountId: caller.accountId, maxAgeS: anyAge }
      : undefined;
    const complete = measureCompletion(deployment.upstream.complete, exchange, {
      session: { name: "x-session-id", value: session },
      sharing,
    });
    const startedAtMs = performance.now();
    const completion = await complete({ ...upstreamFields(params), messages }, signal);
    const latencyMs = performance.now() - startedAtMs;
    const answer = readAnswer(completion);
    refuseUnusable(answer, acceptsTruncated);
    refuseControlTokens(answer, deployment);
    return { ...answer, latencyMs };
  };
}

/** Finish reasons of a model that did something other than say what comes next. */
const otherEnds: ReadonlySet<string | null> = new Set(["tool_calls", "function_call", "content_filter"]);

/** Throws an `UpstreamError` for an answer that cannot be an observation. */
function refuseUnusable({ output, finishReason }: Answer, acceptsTruncated: boolean): void {
  const isCut = finishReason === "length";
  if (otherEnds.has(finishReason)) throw unusable(`it ended with ${finishReason}`);
  if (output.trim() === "" && isCut)
    throw unusable("its tokens ran out before any text; raise `max_tokens`, or let it think less");
  if (output.trim() === "") throw unusable("it has no text");
  if (isCut && !acceptsTruncated)
    throw unusable(
      'it was cut off at `max_tokens`; raise that, or set `truncated_output` of the environment to "accept"',
    );
}
