import { toStorableText } from "./columns.ts";
import type { PredictionsTable } from "./schema/runs.ts";

/** The stored parts of a model's answer. */
export interface Answer {
  output: string;
  reasoning: string | null;
  finishReason: string | null;
  deployment: string;
  /** The model as the response names it. */
  model: string | null;
  /** The name that was sent. Null: the answer came from the cache, or tokens are not counted under the name. */
  sentModel: string | null;
  /** Null if the answer came from the cache. */
  replica: string | null;
  promptTokens: number;
  /** Tokens of the prompt that the upstream had in its own cache, or all tokens of an answer from ours. */
  cachedTokens: number;
  completionTokens: number;
  /** How sure a world is of the answer, from 0 to 1: as its methods say, and calibrated. */
  score?: number | null;
  confidence?: number | null;
}

/** The limit for the model and the finish reason, which an upstream may send in any length. */
const maxNameCharacters = 200;

/** The columns of a prediction that its answer fills; undefined without an answer. */
export function answerColumns(answer: Omit<Answer, "deployment"> | undefined) {
  return {
    model: toName(answer?.model),
    sent_model: answer?.sentModel ?? null,
    replica: answer?.replica ?? null,
    finish_reason: toName(answer?.finishReason),
    prompt_tokens: answer?.promptTokens ?? 0,
    cached_tokens: answer?.cachedTokens ?? 0,
    completion_tokens: answer?.completionTokens ?? 0,
    score: answer?.score ?? null,
    confidence: answer?.confidence ?? null,
  } satisfies Partial<PredictionsTable>;
}

/** Token counts as they are shown: null where the upstream counted none, as no prompt has 0 tokens. */
export function shownTokens<Name extends string>(
  counts: Record<Name, number>,
  isAnswered = true,
): Record<Name, number | null> {
  const isKnown = !isAnswered || Object.values(counts).some((count) => Number(count) > 0);
  const shown = Object.entries(counts).map(([name, count]) => [name, isKnown ? Number(count) : null]);
  return Object.fromEntries(shown) as Record<Name, number | null>;
}

function toName(text: string | null | undefined): string | null {
  return typeof text === "string" ? toStorableText(text, maxNameCharacters) : null;
}
