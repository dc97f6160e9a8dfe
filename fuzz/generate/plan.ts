import type { Operation } from "../document/read-document.ts";
import type { OddText } from "./odd-text.ts";

/** Who asks. `made` is a key that an earlier request made and another may have revoked. */
export type Caller = "owner" | "session" | "made" | "stranger" | "nobody";

export const usualHost = "presage";

/** One request, before it is written as bytes. References stand in for what only earlier answers tell. */
export interface Plan {
  operation: Operation;
  method: string;
  /** As they stand in the path, encoded. */
  pathParameters: Record<string, string>;
  /** Follows the path as it is. */
  pathSuffix: string;
  query: [name: string, value: string][];
  /** Follows the query as it is. */
  querySuffix: string;
  headers: [name: string, value: string][];
  caller: Caller;
  /** Which of the callers of that kind. */
  callerNumber: number;
  isBearer: boolean;
  /** Undefined where there is none. */
  body: unknown;
  textOddities: OddText[];
  encoding: "identity" | "gzip" | "deflate" | "br" | "zstd";
  framing: "length" | "chunks" | "small chunks";
  version: "1.1" | "1.0";
  host: string | undefined;
  /** Statuses that are right beside those that the document names. */
  allows: number[];
  /** Whether the caller's key or session may be refused. */
  mayBeUnknown: boolean;
  /** No HTTP request that a server must read: it may close the connection, or refuse in words that are not Presage's. */
  isMalformed: boolean;
}

/** One way in which a request is not what it should be. Applied in any company, or not at all. */
export interface Oddity {
  name: string;
  apply(plan: Plan): Plan;
}
