import type { CompletionChoice } from "./upstream.ts";

const thinkStart = "<think>";
const thinkEnd = "</think>";

/** What the model said, without a block of thoughts before it. Some servers file all of it under reasoning. */
export function readText({ message }: CompletionChoice): string {
  const said = withoutThinking(readContent(message.content));
  if (said !== "") return said;
  const thought = [message.reasoning_content, message.reasoning].find((text) => typeof text === "string");
  return typeof thought === "string" ? withoutThinking(thought) : "";
}

/** The arguments of the one call of a tool; undefined if the model did not call it, or called it more than once. */
export function readToolArguments({ message }: CompletionChoice, tool: string): unknown {
  const calls: unknown[] = Array.isArray(message.tool_calls) ? message.tool_calls : [];
  const functions = calls.map((call) => Object(Object(call).function) as Record<string, unknown>);
  const [called, another] = functions.filter(({ name }) => name === tool);
  return another === undefined ? called?.arguments : undefined;
}

export function isRefused({ message, finish_reason }: CompletionChoice): boolean {
  if (typeof message.refusal === "string" && message.refusal !== "") return true;
  return finish_reason === "content_filter" || finish_reason === "refusal";
}

/** Most servers send a string or null, some a list of parts. */
function readContent(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part: { text?: unknown } | null) => (typeof part?.text === "string" ? part.text : ""))
    .join("");
}

function withoutThinking(said: string): string {
  const text = said.trim();
  // An answer that has begun may speak of such a block.
  if (text.startsWith("{")) return text;
  const end = text.indexOf(thinkEnd);
  if (end !== -1) return text.slice(end + thinkEnd.length).trim();
  return text.startsWith(thinkStart) ? "" : text;
}
