import { UpstreamError } from "../platform/errors.ts";
import { isCountedModelName } from "../platform/prices.ts";
import type { Answer } from "../platform/storage/answer-columns.ts";
import { findControlToken, readUpstreamCachedTokens, recordsName } from "../upstream/completion.ts";
import type { Deployment } from "../upstream/deployments.ts";
import { replicaAddress } from "../upstream/replicas.ts";
import type { UpstreamCompletion } from "../upstream/upstream.ts";
import type { WorldCompletion } from "../worlds/complete-through-world.ts";
import { readPrediction } from "./predict.ts";

/** What is stored of a completion; of one through a world also how sure it is. */
export function readAnswer({
  body,
  cache,
  deployment,
  model,
  replica,
  explain,
  confidence,
  isEscalated,
}: UpstreamCompletion & Partial<Pick<WorldCompletion, "explain" | "confidence" | "isEscalated">>): Answer {
  const { response, reasoning, finish_reason, usage } = readPrediction(body);
  const { prompt_tokens: prompt, completion_tokens: completion } = usage;
  const wasAsked = cache?.result !== "hit" && cache?.result !== "shared";
  return {
    output: response.content,
    reasoning: reasoning ?? null,
    finishReason: finish_reason ?? null,
    deployment,
    // The records are no model.
    model: typeof body.model === "string" && deployment !== recordsName ? body.model : null,
    sentModel: model !== undefined && isCountedModelName(model) ? model : null,
    replica: replica === undefined ? null : replicaAddress(replica),
    promptTokens: wasAsked ? prompt : 0,
    cachedTokens: wasAsked ? readUpstreamCachedTokens(body.usage) : prompt + completion,
    completionTokens: wasAsked ? completion : 0,
    // Of another answer, if this one was asked for afresh.
    score: isEscalated ? null : (explain?.score ?? null),
    confidence: isEscalated ? null : (confidence ?? null),
  };
}

/** Throws an `UpstreamError` for an answer that would feed control tokens of a chat template back to the model. */
export function refuseControlTokens({ output }: Answer, { name, controlTokens }: Deployment): void {
  const token = controlTokens === "accept" ? undefined : findControlToken(output);
  if (token !== undefined)
    throw unusable(
      `it has the control token ${token}; mend the model's chat template or stop tokens, or set \`control_tokens\` of the deployment ${name} to accept`,
    );
}

/** The error for an answer that is not used. */
export function unusable(why: string): UpstreamError {
  return new UpstreamError("unusable_completion", `The model's answer cannot be used: ${why}.`, {
    status: 200,
  });
}
