import type { Operation } from "../document/read-document.ts";
import type { TextMutation } from "./odd-text.ts";

/** Who sends the request. `made` is a key created by an earlier request, and possibly revoked by another. */
export type Caller = "owner" | "session" | "made" | "stranger" | "nobody";

export const usualHost = "presage";

/** One request before serialisation. Ids from earlier responses are placeholders. */
export interface Plan {
  operation: Operation;
  method: string;
  /** URL-encoded. */
  pathParameters: Record<string, string>;
  /** Appended to the path unchanged. */
  pathSuffix: string;
  query: [name: string, value: string][];
  /** Appended to the query unchanged. */
  querySuffix: string;
  headers: [name: string, value: string][];
  caller: Caller;
  /** Selects one of the callers of that kind. */
  callerNumber: number;
  isBearer: boolean;
  /** Undefined if there is none. */
  body: unknown;
  textMutations: TextMutation[];
  encoding: "identity" | "gzip" | "deflate" | "br" | "zstd";
  framing: "length" | "chunks" | "small chunks";
  version: "1.1" | "1.0";
  host: string | undefined;
  /** Allowed statuses beside the documented ones. */
  allows: number[];
  /** Whether the caller's key or session may be refused. */
  mayBeUnknown: boolean;
  /** Not valid HTTP: the server may close the connection or respond with an error that is not Presage's. */
  isMalformed: boolean;
}

/** One way to make a request unusual. Mutations are independent of each other. */
export interface Mutation {
  name: string;
  apply(plan: Plan): Plan;
}
