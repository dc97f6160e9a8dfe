import type { Usage, WorldModelPrediction } from "@presage/contract";
import { endOfThinking, readMessage, readThought } from "../upstream/read-message.ts";
import type { CompletionBody } from "../upstream/upstream.ts";

/** More than any model reads or writes in one call. A larger count is a mistake. */
const mostTokens = 1e9;

/** Reads a completion into a prediction, leniently, since servers differ. */
export function readPrediction(completion: CompletionBody): WorldModelPrediction {
  const choice = completion.choices[0];
  const message = readMessage(choice);
  const { content, reasoning } = message.reasoning === undefined ? splitThinking(message.content) : message;
  return {
    response: { role: "assistant", content },
    reasoning: reasoning ?? null,
    finish_reason: typeof choice.finish_reason === "string" ? choice.finish_reason : null,
    usage: readUsage(completion.usage),
    matched_stop: firstStop(choice.matched_stop, choice.stop_reason),
  };
}

/** The thoughts of a server that leaves them in the content. */
function splitThinking(content: string): { content: string; reasoning: string | null } {
  const end = endOfThinking(content);
  if (end === undefined) return { content, reasoning: null };
  const thought = readThought(content.slice(0, end));
  return { content: content.slice(end).trimStart(), reasoning: thought === "" ? null : thought };
}

/** An upstream may send anything; a count that cannot be true is treated as missing. */
export function readUsage(usage: unknown): Usage {
  const counts = (typeof usage === "object" ? usage : null) as Record<string, unknown> | null;
  return {
    prompt_tokens: readCount(counts?.prompt_tokens),
    completion_tokens: readCount(counts?.completion_tokens),
  };
}

function readCount(count: unknown): number {
  const isCount = typeof count === "number" && Number.isInteger(count) && count >= 0 && count <= mostTokens;
  return isCount ? count : 0;
}

function firstStop(...stops: unknown[]): number | string | null {
  const stop = stops.find((candidate) => typeof candidate === "string" || Number.isInteger(candidate));
  return typeof stop === "string" || typeof stop === "number" ? stop : null;
}
