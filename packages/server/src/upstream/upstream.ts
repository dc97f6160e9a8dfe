import type { ByteBudget } from "../limits/byte-budget.ts";

/** Where the deployment is and how to call it. */
export interface UpstreamOptions {
  /** Base URL including `/v1`, without a trailing slash. */
  url: string;
  apiKey: string | undefined;
  /** Absent: read from the upstream. */
  model: string | undefined;
  /** Deadline of one call in milliseconds, including its retries. */
  timeoutMs: number;
  /** How often a call is retried after a refused or reset connection or a 503. */
  retries: number;
  /** Responses reserve from it while they are read. Absent: they reserve nothing. */
  memory?: ByteBudget;
  /** Whether a connection is used for more than one call. Absent: true. */
  keepAlive?: boolean;
}

/** A chat completion as the upstream sent it. */
export interface UpstreamCompletion {
  /** The bytes of the response, unchanged. */
  bytes: Uint8Array<ArrayBuffer>;
  /** The same, parsed. */
  body: CompletionBody;
}

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
  ids: string[];
}

/** A chat-completions request. `model` is filled in if it is absent. */
export interface CompletionRequest extends Record<string, unknown> {
  model?: string;
  messages: readonly { role: string; content: string }[];
}

export interface Upstream {
  /** Requests one completion. Throws `UpstreamError`, or `ClientDisconnectedError` once `clientSignal` is aborted. */
  complete(
    request: CompletionRequest,
    clientSignal: AbortSignal,
    /** Called before each retry, where retries are bounded beyond this one call. */
    mayRetry?: () => boolean,
  ): Promise<UpstreamCompletion>;
  listModels(clientSignal: AbortSignal): Promise<ModelList>;
}
