import type { Caller } from "../../http/caller.ts";
import type { Exchange } from "../../http/exchange.ts";
import type { Requester } from "../../platform/storage/reader.ts";

/** What is known of one socket. */
export interface Conversation {
  readonly environment: string;
  /** Its route. */
  readonly path: string;
  /** Checked again with each message. */
  readonly key: string;
  /** Those that name a trace. */
  readonly headers: Headers;
  /** The current episode, with the name that the client gave it, and how many of its steps the client was told. */
  episode: { id: string; name: string | undefined; steps: number } | undefined;
}

/** A message of a caller who is known. */
export interface MessageCall {
  exchange: Exchange;
  caller: Caller;
  requester: Requester;
  /** On the clock of `performance.now()`. */
  deadlineAtMs: number;
}
