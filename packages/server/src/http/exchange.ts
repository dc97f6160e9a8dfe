import type { Context } from "hono";
import type { Caller } from "../identity/api-keys/verify-api-key.ts";
import type { RequestSpan } from "../observability/tracing.ts";

/** What is learnt about one request while it is served, for its log line, its metrics and its headers. */
export interface Exchange {
  requestId: string;
  startedAtMs: number;
  keyId?: string;
  upstreamMs?: number;
  promptTokens?: number;
  completionTokens?: number;
  /** Why it failed, if it did. */
  category?: string;
  /** Its trace, where traces are made. */
  span?: RequestSpan;
}

export type HttpEnv = {
  Bindings: { server: Bun.Server<undefined> };
  Variables: { exchange: Exchange; caller: Caller };
};

export type HttpContext = Context<HttpEnv>;
