import type { Usage, WorldModelPrediction } from "@presage/contract";
import type { CompletionBody, CompletionChoice } from "../upstream/upstream.ts";

const thinkStart = "<think>";
const thinkEnd = "</think>";
/** More than any model reads or writes in one call. What claims more is not a count. */
const mostTokens = 1e9;

/** Reads a completion into a prediction, as leniently as servers differ. */
export function readPrediction(completion: CompletionBody): WorldModelPrediction {
  const choice = completion.choices[0];
  const { content, reasoning } = readMessage(choice);
  return {
    response: { role: "assistant", content },
    reasoning,
    finish_reason: typeof choice.finish_reason === "string" ? choice.finish_reason : null,
    usage: readUsage(completion.usage),
    matched_stop: firstStop(choice.matched_stop, choice.stop_reason),
  };
}

function readMessage({ message }: CompletionChoice): { content: string; reasoning: string | null } {
  const content = readContent(message.content);
  const stated = [message.reasoning_content, message.reasoning].find(
    (text) => typeof text === "string" && text !== "",
  );
  return typeof stated === "string" ? { content, reasoning: stated } : splitThinking(content);
}

/** Most servers send a string or null, some a list of parts. */
function readContent(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part: { text?: unknown } | null) => (typeof part?.text === "string" ? part.text : ""))
    .join("");
}

/** A chat template may already have opened the block in the prompt, so that only its end is in the answer. */
function splitThinking(content: string): { content: string; reasoning: string | null } {
  const opened = content.trimStart().startsWith(thinkStart);
  const end = content.indexOf(thinkEnd);
  if (!opened && end === -1) return { content, reasoning: null };
  // A block that the token limit cut off is all thought and no answer.
  const thought = (end === -1 ? content : content.slice(0, end)).replace(opened ? thinkStart : "", "").trim();
  const answer = end === -1 ? "" : content.slice(end + thinkEnd.length).trimStart();
  return { content: answer, reasoning: thought === "" ? null : thought };
}

/** An upstream may claim anything; a count that cannot be true is read as a missing one. */
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
