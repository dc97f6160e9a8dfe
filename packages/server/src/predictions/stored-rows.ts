import type { ErrorCategory, RunVerdict, StoredWorld } from "@presage/contract";
import { UpstreamError } from "../platform/errors.ts";
import { isCountedModelName } from "../platform/prices.ts";
import { type Answer, answerColumns } from "../platform/storage/answer-columns.ts";
import { type Micros, toStorableText } from "../platform/storage/columns.ts";
import type {
  PredictionContextsTable,
  PredictionPayloadsTable,
  PredictionsTable,
  RunVerdictsTable,
} from "../platform/storage/schema/runs.ts";
import { findControlToken, readUpstreamCachedTokens, recordsName } from "../upstream/completion.ts";
import type { Deployment } from "../upstream/deployments.ts";
import { replicaAddress } from "../upstream/replicas.ts";
import type { UpstreamCompletion } from "../upstream/upstream.ts";
import type { WorldCompletion } from "../worlds/complete-through-world.ts";
import { readPrediction } from "./predict.ts";

/** The contract's descriptions name the same limit. */
const maxTextCharacters = 262_144;

/** A client's prediction that is to be stored. */
export interface NewPrediction {
  id: string;
  accountId: string;
  createdAt: Micros;
  apiKeyId: string | undefined;
  requestId: string;
  /** Null if there was none. */
  context: unknown;
  /** The rest of the request. */
  asked: StoredRequest;
  deployment: string;
  latencyMicros: Micros;
  outcome: PredictionOutcome;
}

/** The request without the context, as it is stored: numbers too long for a double keep their digits. */
export interface StoredRequest {
  /** Who asked, if not with a key. Must stay first: lists search the JSON for its first occurrence. */
  user_id?: string;
  interaction?: unknown;
  messages?: unknown;
  params?: unknown;
  model?: unknown;
  /** The world that the request went through, and the examples that were shown. */
  world?: StoredWorld | undefined;
}

export type PredictionOutcome =
  | { status: "success"; answer: Answer }
  | { status: "failed"; category: ErrorCategory | undefined; message: string };

/** The rows of some predictions, and their contexts, each once. */
export interface StoredRows {
  predictions: PredictionsTable[];
  payloads: PredictionPayloadsTable[];
  contexts: PredictionContextsTable[];
}

/** What is stored of a completion, including how sure it is if it came through a world. */
export function readAnswer({
  body,
  cache,
  deployment,
  model,
  replica,
  explain,
  confidence,
  isEscalated,
}: UpstreamCompletion & Partial<Pick<WorldCompletion, "explain" | "confidence" | "isEscalated">>): Answer {
  const { response, reasoning, finish_reason, usage } = readPrediction(body);
  const { prompt_tokens: prompt, completion_tokens: completion } = usage;
  const wasAsked = cache?.result !== "hit" && cache?.result !== "shared";
  return {
    output: response.content,
    reasoning: reasoning ?? null,
    finishReason: finish_reason ?? null,
    deployment,
    // Records are not a model.
    model: typeof body.model === "string" && deployment !== recordsName ? body.model : null,
    sentModel: isCountedModelName(model) ? model : null,
    replica: replica === undefined ? null : replicaAddress(replica),
    promptTokens: wasAsked ? prompt : 0,
    cachedTokens: wasAsked ? readUpstreamCachedTokens(body.usage) : prompt + completion,
    completionTokens: wasAsked ? completion : 0,
    // After an escalation these would belong to another answer.
    score: isEscalated ? null : (explain?.score ?? null),
    confidence: isEscalated ? null : (confidence ?? null),
  };
}

/** Throws an `UpstreamError` for an answer that would feed control tokens of a chat template back to the model. */
export function refuseControlTokens({ output }: Answer, { name, controlTokens }: Deployment): void {
  const token = controlTokens === "accept" ? undefined : findControlToken(output);
  if (token !== undefined)
    throw unusable(
      `it has the control token ${token}; mend the model's chat template or stop tokens, or set \`control_tokens\` of the deployment ${name} to accept`,
    );
}

/** The error for an answer that is not used. */
export function unusable(why: string): UpstreamError {
  return new UpstreamError("unusable_completion", `The model's answer cannot be used: ${why}.`, {
    status: 200,
  });
}

export function toStoredRows(some: readonly NewPrediction[]): StoredRows {
  const contexts = new Map<string, PredictionContextsTable>();
  const predictions: PredictionsTable[] = [];
  const payloads: PredictionPayloadsTable[] = [];
  for (const one of some) {
    const context = toContextRow(one);
    if (context !== undefined) contexts.set(context.digest, context);
    predictions.push(toPredictionRow(one));
    payloads.push(toPayloadRow(one, context?.digest ?? null));
  }
  return { predictions, payloads, contexts: [...contexts.values()] };
}

function toPredictionRow({ outcome, ...one }: NewPrediction): PredictionsTable {
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
  { id, asked, outcome }: NewPrediction,
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

/** The digest covers the account as well, so that no two accounts share a digest. */
function toContextRow({ accountId, context: given }: NewPrediction): PredictionContextsTable | undefined {
  if (given === null || given === undefined) return undefined;
  const context = JSON.stringify(given);
  const digest = new Bun.CryptoHasher("sha256").update(`${accountId}\n`).update(context).digest("base64url");
  return { account_id: accountId, digest, context };
}

function toText(text: string | null | undefined): string | null {
  return typeof text === "string" ? toStorableText(text, maxTextCharacters) : null;
}

/** A verdict of a run that has these evaluators, in the order of its list. */
export function toRunVerdict(
  evaluators: readonly { id: string; profile: { name: string } }[],
  row: Pick<RunVerdictsTable, "evaluator" | "status" | "pass" | "score" | "result_id">,
): RunVerdict {
  const evaluator = evaluators[row.evaluator];
  return {
    evaluator: evaluator?.id ?? "",
    profile_name: evaluator?.profile.name ?? "",
    status: row.status,
    pass: row.pass === null ? null : row.pass === 1,
    score: row.score,
    evaluation_result_id: row.result_id === null ? null : String(row.result_id),
  };
}
