import { isCountedModelName } from "../platform/counted-model-name.ts";
import type { Answer } from "../platform/storage/answer-columns.ts";
import { readUpstreamCachedTokens } from "../upstream/completion.ts";
import { replicaAddress } from "../upstream/replicas.ts";
import type { UpstreamCompletion } from "../upstream/upstream.ts";
import { readPrediction } from "./predict.ts";

/** What is stored of a completion. */
export function readAnswer({ body, cache, deployment, model, replica }: UpstreamCompletion): Answer {
  const { response, reasoning, finish_reason, usage } = readPrediction(body);
  const { prompt_tokens: prompt, completion_tokens: completion } = usage;
  const wasAsked = cache?.result !== "hit" && cache?.result !== "shared";
  return {
    output: response.content,
    reasoning: reasoning ?? null,
    finishReason: finish_reason ?? null,
    deployment,
    model: typeof body.model === "string" ? body.model : null,
    sentModel: model !== undefined && isCountedModelName(model) ? model : null,
    replica: replica === undefined ? null : replicaAddress(replica),
    promptTokens: wasAsked ? prompt : 0,
    cachedTokens: wasAsked ? readUpstreamCachedTokens(body.usage) : prompt + completion,
    completionTokens: wasAsked ? completion : 0,
  };
}
