import type { UsageFailure } from "@presage/contract";
import { UpstreamError } from "../../platform/errors.ts";
import { readTokenCounts, readUpstreamCachedTokens } from "../../upstream/completion.ts";
import type { UpstreamCompletion } from "../../upstream/upstream.ts";

/** One call to a model, by a judge or for a run, for the usage of the account. */
export interface ModelUse {
  accountId: string;
  /** Undefined: for a request with a session, or a run that was started with none. */
  keyId: string | undefined;
  /** Undefined: it succeeded. */
  failure: UsageFailure | undefined;
  /** The name that was sent. */
  model: string | undefined;
  promptTokens: number;
  completionTokens: number;
  upstreamCachedTokens: number;
}

type Caller = Pick<ModelUse, "accountId" | "keyId">;

export function useOfCompletion(
  { accountId, keyId }: Caller,
  { model, body: { usage } }: UpstreamCompletion,
): ModelUse {
  const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = readTokenCounts(usage);
  const upstreamCachedTokens = readUpstreamCachedTokens(usage);
  const tokens = { promptTokens, completionTokens, upstreamCachedTokens };
  return { accountId, keyId, failure: undefined, model, ...tokens };
}

export function useOfFailure(
  { accountId, keyId }: Caller,
  error: unknown,
  { reason }: AbortSignal,
): ModelUse {
  const isDeadline = reason instanceof Error && "code" in reason && reason.code === "timeout";
  const abandoned = isDeadline ? "timeout" : "other";
  const failure = error instanceof UpstreamError ? error.category : abandoned;
  const tokens = { promptTokens: 0, completionTokens: 0, upstreamCachedTokens: 0 };
  return { accountId, keyId, failure, model: undefined, ...tokens };
}
