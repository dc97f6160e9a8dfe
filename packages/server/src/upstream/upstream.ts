import type { ByteBudget } from "../platform/limits/memory.ts";
import type { TraceHeaders } from "../platform/observability/tracing.ts";
import type { CompletionCache } from "./cache.ts";
import type { ReplicaState } from "./replica-health.ts";
import type { Replicas } from "./replicas.ts";

/**
 * Which requests of a deployment are asked once: none, those that sample nothing (temperature 0), or also those with a `seed`, for
 * an upstream that keeps to it.
 */
export type CachePolicy = "off" | "deterministic" | "seeded";

/** Whether the same request may have the same response. */
export function isRepeatable({ temperature, seed }: CompletionRequest, policy: CachePolicy): boolean {
  if (policy === "off") return false;
  return temperature === 0 || (policy === "seeded" && seed !== undefined && seed !== null);
}

/** Where the deployment is and how to call it. */
export interface UpstreamOptions {
  /** The deployment's name. */
  name: string;
  /** Base URL of each replica, including `/v1`, without a trailing slash. */
  urls: readonly string[];
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
  /** Maximum requests in flight at one replica. Absent: no maximum. */
  maxInFlightPerReplica?: number;
  /** How long a replica may take to begin a response. Absent or 0: until the deadline. */
  firstByteTimeoutMs?: number;
  /** Which completions are kept, and where. Absent: none. */
  cache?: { policy: CachePolicy; completions: CompletionCache };
  /** Whether all replicas may be out, because another deployment takes over. Absent: false. */
  hasFallback?: boolean;
  /** Called when a replica is ejected, and when it is back. */
  onReplicaChange?: (url: string, state: ReplicaState) => void;
  /** A monotonic clock. Absent: the process's. */
  nowMs?: () => number;
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
  /** The address of the replica that sent it. Absent: it was kept. */
  replica?: string;
  /** Absent: the request was not cacheable. */
  cache?: CacheOutcome;
}

/**
 * Where a completion is from: kept (`hit`), asked for by an equal request that was under way (`shared`), or asked for by this one
 * (`miss`).
 */
export type CacheOutcome = { result: "hit"; ageS: number } | { result: "miss" | "shared" };

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
  /** How old a kept completion may be; 0: none is taken. */
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
  /** Absent: it is neither shared nor cached. */
  sharing?: Sharing | undefined;
  /** Sent with every try. */
  trace?: TraceHeaders | undefined;
}

export interface Upstream {
  /** Requests one completion. Throws `UpstreamError`, or `ClientDisconnectedError` once `clientSignal` is aborted. */
  complete(
    request: CompletionRequest,
    clientSignal: AbortSignal,
    options?: CompletionOptions,
  ): Promise<UpstreamCompletion>;
  /** The cached completion of a request whose body has been seen before; undefined if it has to be read. */
  findCached(sharing: Sharing): UpstreamCompletion | undefined;
  listModels(clientSignal: AbortSignal): Promise<ModelList>;
  /** The served model as far as it is known: the configured one, or the one that the upstream listed. */
  model(): string | undefined;
  readonly replicas: Replicas;
}
