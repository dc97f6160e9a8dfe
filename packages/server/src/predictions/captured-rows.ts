import type { ErrorCategory } from "@presage/contract";
import { type Answer, answerColumns } from "../platform/storage/answer-columns.ts";
import { type Micros, toStorableText } from "../platform/storage/columns.ts";
import type {
  PredictionContextsTable,
  PredictionPayloadsTable,
  PredictionsTable,
} from "../platform/storage/schema/runs.ts";

/** As the contract says. */
const maxTextCharacters = 262_144;

/** A client's prediction that is kept. */
export interface CapturedPrediction {
  id: string;
  accountId: string;
  createdAt: Micros;
  apiKeyId: string | undefined;
  requestId: string;
  /** Null if there was none. */
  context: unknown;
  /** The rest of what was asked. */
  asked: KeptRequest;
  deployment: string;
  latencyMicros: Micros;
  outcome: CapturedOutcome;
}

/** What was asked beside the context, as it is stored: numbers too long for a double keep their digits. */
export interface KeptRequest {
  interaction?: unknown;
  messages?: unknown;
  params?: unknown;
  model?: unknown;
}

export type CapturedOutcome =
  | { status: "success"; answer: Answer }
  | { status: "failed"; category: ErrorCategory | undefined; message: string };

/** The rows of some predictions, and their contexts, each once. */
export interface CapturedRows {
  predictions: PredictionsTable[];
  payloads: PredictionPayloadsTable[];
  contexts: PredictionContextsTable[];
}

export function toCapturedRows(captured: readonly CapturedPrediction[]): CapturedRows {
  const contexts = new Map<string, PredictionContextsTable>();
  const predictions: PredictionsTable[] = [];
  const payloads: PredictionPayloadsTable[] = [];
  for (const one of captured) {
    const context = toContextRow(one);
    if (context !== undefined) contexts.set(context.digest, context);
    predictions.push(toPredictionRow(one));
    payloads.push(toPayloadRow(one, context?.digest ?? null));
  }
  return { predictions, payloads, contexts: [...contexts.values()] };
}

function toPredictionRow({ outcome, ...one }: CapturedPrediction): PredictionsTable {
  return {
    id: one.id,
    account_id: one.accountId,
    source: "live",
    created_at: one.createdAt,
    run_id: null,
    position: null,
    repeat: null,
    status: outcome.status,
    error_category: outcome.status === "failed" ? (outcome.category ?? null) : null,
    deployment: one.deployment,
    ...answerColumns(outcome.status === "success" ? outcome.answer : undefined),
    latency_micros: one.latencyMicros,
    api_key_id: one.apiKeyId ?? null,
    request_id: one.requestId,
  };
}

function toPayloadRow(
  { id, asked, outcome }: CapturedPrediction,
  contextDigest: string | null,
): PredictionPayloadsTable {
  const answer = outcome.status === "success" ? outcome.answer : undefined;
  return {
    prediction_id: id,
    context_digest: contextDigest,
    // In JSON, NUL and lone surrogates are escaped.
    request: JSON.stringify(asked),
    output: toText(answer?.output),
    reasoning: toText(answer?.reasoning),
    error_message: toText(outcome.status === "failed" ? outcome.message : undefined),
  };
}

/** The digest is of the account as well, so that no two accounts have a digest in common. */
function toContextRow({
  accountId,
  context: given,
}: CapturedPrediction): PredictionContextsTable | undefined {
  if (given === null || given === undefined) return undefined;
  const context = JSON.stringify(given);
  const digest = new Bun.CryptoHasher("sha256").update(`${accountId}\n`).update(context).digest("base64url");
  return { account_id: accountId, digest, context };
}

function toText(text: string | null | undefined): string | null {
  return typeof text === "string" ? toStorableText(text, maxTextCharacters) : null;
}

/** Which outcomes of a request are kept. */
export type Captures = "off" | "failures" | "all";

/**
 * Which outcomes of a request are kept under a setting (as `CaptureSetting` of the contract). Of a share, the first 32 bits of the
 * SHA-256 of the request's id decide, as a fraction of 2^32, so that anybody can tell afterwards which requests are kept.
 */
export function captureOf(setting: string, requestId: string): Captures {
  if (setting === "off" || setting === "failures" || setting === "all") return setting;
  return fractionOf(requestId) < Number(setting) ? "all" : "off";
}

function fractionOf(requestId: string): number {
  return new Bun.CryptoHasher("sha256").update(requestId).digest().readUInt32BE() / 2 ** 32;
}
