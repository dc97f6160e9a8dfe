import type { ByteBudget } from "../limits/byte-budget.ts";

/** Where the deployment is and what it takes. */
export interface UpstreamOptions {
  /** Base URL with its `/v1`, without a slash at the end. */
  url: string;
  apiKey: string | undefined;
  /** Asked of the upstream where absent. */
  model: string | undefined;
  /** Deadline of one call in milliseconds, retries and all. */
  timeoutMs: number;
  /** Further tries after a refused or reset connection or a 503. */
  retries: number;
  /** What answers count in while they are read. Absent: in nothing. */
  memory?: ByteBudget;
  /** Whether a connection is used for more than one call. True where absent. */
  keepAlive?: boolean;
}

/** A chat completion as the upstream sent it. */
export interface UpstreamCompletion {
  /** The very bytes of the answer. */
  bytes: Uint8Array<ArrayBuffer>;
  /** The same, parsed. */
  body: CompletionBody;
}

/** The parts of a completion that are certain to be there; everything else is read leniently. */
export interface CompletionBody extends Record<string, unknown> {
  choices: [CompletionChoice, ...CompletionChoice[]];
}

export interface CompletionChoice extends Record<string, unknown> {
  message: Record<string, unknown>;
}

export interface ModelList {
  /** The very bytes of the answer. */
  bytes: Uint8Array<ArrayBuffer>;
  ids: string[];
}

/** What is asked of a chat-completions deployment. `model` is filled in where it is absent. */
export interface CompletionRequest extends Record<string, unknown> {
  model?: string;
  messages: readonly { role: string; content: string }[];
}

export interface Upstream {
  /** Asks for one completion. Throws `UpstreamError`, or `ClientDisconnectedError` once `callerGone` is aborted. */
  complete(
    request: CompletionRequest,
    callerGone: AbortSignal,
    /** Asked before each further try, where tries are bounded beyond this one call. */
    mayRetry?: () => boolean,
  ): Promise<UpstreamCompletion>;
  listModels(callerGone: AbortSignal): Promise<ModelList>;
}
