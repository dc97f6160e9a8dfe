import type { ErrorCategory, UsageOperation } from "@presage/contract";
import type { Holder } from "../../limits/byte-budget.ts";
import type { RequestSpan } from "../../observability/tracing.ts";
import type { RateStatus } from "../../prediction/admission.ts";

/**
 * What is learnt about one request while it is served, for its log line, its metrics and its headers, and the memory that it
 * holds until it is answered.
 */
export interface Exchange extends Holder {
  readonly requestId: string;
  readonly startedAtMs: number;
  /** Its trace, where traces are made. */
  readonly span: RequestSpan | undefined;
  keyId: string | undefined;
  sessionId: string | undefined;
  /** In whose usage it is counted, and as what, if it is. */
  countsFor: { accountId: string; operation: UsageOperation } | undefined;
  /** What the key has left of its rate, if it has a limit. */
  rate: RateStatus | undefined;
  upstreamMs: number | undefined;
  promptTokens: number | undefined;
  completionTokens: number | undefined;
  /** Called once the request is answered. */
  atEnd: (() => void) | undefined;
  /** Why it failed, if it did. */
  category: ErrorCategory | undefined;
  /** Whether it uses names that others have replaced. */
  usesOldNames: boolean;
}
