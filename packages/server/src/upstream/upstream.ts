import type { TraceHeaders } from "../platform/observability/tracing.ts";
import type { Spender } from "../platform/prices.ts";

/**
 * Which completions may be reused: none, deterministic ones (temperature 0), or also those with a `seed`, for an upstream that
 * keeps to it.
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
  /** The same, parsed. */
  body: CompletionBody;
  /** The name of the deployment that sent it. */
  deployment: string;
  /** The requested model. Absent for a completion from the cache. */
  model?: string;
  /** The address of the replica that sent it. Absent: it was cached. */
  replica?: string;
  /** Absent: the request was not cacheable. */
  cache?: CacheOutcome;
  /** How many tokens of the prompt were a world's examples, about. Absent: it is of no world. */
  exampleTokens?: number;
}

/**
 * Where a completion is from: cached (`hit`), asked for by an equal request that was under way (`shared`), or asked for by this one
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
  /** Without content, a message is of tools. */
  messages: readonly { role: string; content?: string | null }[];
}

/** The header by which a client marks requests as one session. It is forwarded to the upstream. */
export interface SessionHeader {
  name: string;
  value: string;
}

/** What a completion is for, as the log and the metrics tell outages apart. */
export type Purpose = "predictions" | "judges";

/** Lets a request have the completion of an equal one. */
export interface Sharing {
  /** Accounts share nothing. */
  accountId: string;
  /** How old a cached completion may be; 0: none is taken. */
  maxAgeS: number;
  /** Names the body that the account sent, and all else that the request was made from. Absent: equal bodies are not recognised. */
  bodyDigest?: string | undefined;
}

export interface CompletionOptions {
  /** Absent: a prediction. */
  purpose?: Purpose;
  /** Called before each retry, where retries are bounded beyond this one call. */
  mayRetry?: (() => boolean) | undefined;
  session?: SessionHeader | undefined;
  /** What requests of one trajectory have in common where the messages do not tell it. Without a session it decides on the replica. */
  prefix?: (() => string) | undefined;
  /** Absent: no budget is asked. */
  spender?: Spender | undefined;
  /** Absent: it is neither shared nor cached. */
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
