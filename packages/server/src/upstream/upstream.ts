import type { TraceHeaders } from "../platform/observability/tracing.ts";
import type { Spender } from "../platform/prices.ts";

/**
 * Which completions may be reused: none, deterministic ones (temperature 0), or also those with a `seed`, for an upstream that
 * honours it.
 */
export type CachePolicy = "off" | "deterministic" | "seeded";

/** Whether the same request may have the same response. */
export function isRepeatable({ temperature, seed }: CompletionRequest, policy: CachePolicy): boolean {
  if (policy === "off") return false;
  return temperature === 0 || (policy === "seeded" && seed !== undefined && seed !== null);
}

/** A chat completion as the upstream sent it. */
export interface UpstreamCompletion {
  /** The bytes of the response, unchanged. */
  bytes: Uint8Array<ArrayBuffer>;
  /** The parsed response. */
  body: CompletionBody;
  /** The name of the deployment that sent it. */
  deployment: string;
  /** The requested model. Absent for a completion from the cache. */
  model?: string;
  /** The address of the replica that sent it. Absent if it was cached. */
  replica?: string;
  /** Absent if the request was not cacheable. */
  cache?: CacheOutcome;
  /** About how many tokens of the prompt were a world's examples. Absent if no world was asked. */
  exampleTokens?: number;
}

/**
 * Where a completion comes from: cached (`hit`), asked for by an equal request that was under way (`shared`), or asked for by this one
 * (`miss`).
 */
type CacheOutcome = { result: "hit"; ageS: number } | { result: "miss" | "shared" };

/** The parts of a completion that are certain to be present; all others are read leniently. */
export interface CompletionBody extends Record<string, unknown> {
  choices: [CompletionChoice, ...CompletionChoice[]];
}

export interface CompletionChoice extends Record<string, unknown> {
  message: Record<string, unknown>;
}

export interface ModelList {
  /** The bytes of the response, unchanged. */
  bytes: Uint8Array<ArrayBuffer>;
  models: ListedModel[];
}

export interface ListedModel extends Record<string, unknown> {
  id: string;
}

/** A chat-completions request. `model` is filled in if it is absent. */
export interface CompletionRequest extends Record<string, unknown> {
  model?: string;
  /** A message without content has tool calls. */
  messages: readonly { role: string; content?: string | null }[];
}

/** The header by which a client marks requests as one session. It is forwarded to the upstream. */
export interface SessionHeader {
  name: string;
  value: string;
}

/** What a completion is for, as the log and the metrics tell outages apart. */
export type Purpose = "predictions" | "judges";

/** Lets a request receive the completion of an equal one. */
export interface Sharing {
  /** Accounts share nothing. */
  accountId: string;
  /** How old a cached completion may be; with 0, none is used. */
  maxAgeS: number;
  /** Identifies the body that the account sent, and all else that the request was made from. If absent, equal bodies are not recognised. */
  bodyDigest?: string | undefined;
}

export interface CompletionOptions {
  /** Predictions if absent. */
  purpose?: Purpose;
  /** Called before each retry, where retries are bounded beyond this one call. */
  mayRetry?: (() => boolean) | undefined;
  session?: SessionHeader | undefined;
  /** What requests of one trajectory have in common, if the messages do not show it. Without a session, it decides on the replica. */
  prefix?: (() => string) | undefined;
  /** If absent, no budget is checked. */
  spender?: Spender | undefined;
  /** If absent, the completion is neither shared nor cached. */
  sharing?: Sharing | undefined;
  /** Sent with every try. */
  trace?: TraceHeaders | undefined;
}

/** Requests one completion. Throws `UpstreamError`, or `ClientDisconnectedError` once `clientSignal` is aborted. */
export type Complete = (
  request: CompletionRequest,
  clientSignal: AbortSignal,
  options?: CompletionOptions,
) => Promise<UpstreamCompletion>;
