import type { KeptPrediction, KeptPredictionDetail } from "@presage/contract";
import { parseJson } from "../http/read-json.ts";
import { shownTokens } from "../platform/storage/answer-columns.ts";
import { microsPerMs, toIsoInstant } from "../platform/storage/micros.ts";
import type { StoredPayload, StoredPrediction } from "./kept-predictions-store.ts";

export function toKeptPrediction(
  { created_at, latency_micros, replica, ...same }: Omit<StoredPrediction, "characters">,
  showsReplicas: boolean,
  names: ReadonlyMap<string, string>,
): KeptPrediction {
  const { prompt_tokens, cached_tokens, completion_tokens } = same;
  const hasAnswered = same.status === "success" && same.deployment !== null;
  return {
    ...same,
    ...shownTokens({ prompt_tokens, cached_tokens, completion_tokens }, hasAnswered),
    run_name: names.get(same.run_id ?? "") ?? null,
    api_key_name: names.get(same.api_key_id ?? "") ?? null,
    created_at: toIsoInstant(created_at),
    replica: showsReplicas ? replica : null,
    latency_ms: latency_micros === null ? null : latency_micros / microsPerMs,
  };
}

/** What was asked. */
export type MadePrompt = Pick<
  KeptPredictionDetail,
  "context" | "interaction" | "messages" | "params" | "requested_model"
>;

export function toKeptPredictionDetail(
  prediction: KeptPrediction,
  { request, context, ...texts }: StoredPayload,
  /** What a run or an episode asked, which is stored with its dataset or its steps. */
  made?: MadePrompt,
): KeptPredictionDetail {
  if (made !== undefined) return { ...prediction, ...made, ...texts };
  // Numbers too long for a double are sent as they were received.
  const asked = (request === null ? {} : parseJson(request)) as Partial<KeptPredictionDetail> & {
    model?: string | null;
  };
  return {
    ...prediction,
    context: context === null ? null : (parseJson(context) as KeptPredictionDetail["context"]),
    interaction: asked.interaction ?? null,
    messages: asked.messages ?? null,
    params: asked.params ?? null,
    requested_model: asked.model ?? null,
    ...texts,
  };
}
