import type { CompletionChoice } from "./upstream.ts";

const thinkStart = "<think>";
const thinkEnd = "</think>";

/** A model's message as the server sent it. */
export interface ModelMessage {
  content: string;
  /** Absent where the server keeps no reasoning apart from the content. */
  reasoning: string | undefined;
}

export function readMessage({ message }: CompletionChoice): ModelMessage {
  const reasoning = [message.reasoning_content, message.reasoning].find(
    (text) => typeof text === "string" && text !== "",
  );
  return { content: readContent(message.content), reasoning: reasoning as string | undefined };
}

/** Most servers send a string or null, some a list of parts. */
function readContent(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part: { text?: unknown } | null) => (typeof part?.text === "string" ? part.text : ""))
    .join("");
}

/**
 * Where the `<think>` block at `from` ends; undefined if there is none. A chat template may have opened the block in the prompt, so
 * that the text holds only its end. A block that the token limit cut off ends with the text.
 */
export function endOfThinking(text: string, from = 0): number | undefined {
  const end = text.indexOf(thinkEnd, from);
  if (end >= 0) return end + thinkEnd.length;
  return startsWithThinking(text, from) ? text.length : undefined;
}

/** Whether a `<think>` block begins at `from`, after white space. */
export function startsWithThinking(text: string, from = 0): boolean {
  return text.startsWith(thinkStart, skipSpace(text, from));
}

/** What a model thought, without the tags around it. */
export function readThought(thinking: string): string {
  const start = startsWithThinking(thinking) ? skipSpace(thinking, 0) + thinkStart.length : 0;
  return thinking.slice(start, thinking.endsWith(thinkEnd) ? -thinkEnd.length : undefined).trim();
}

/** The first place at or after `from` that is not white space. */
export function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && (text[at] ?? "").trim() === "") at += 1;
  return at;
}
