import { isObject, type LeftOut, listIn, textIn, timeOf } from "../../content.ts";
import { type At, objectAt, requiredText } from "../../layout.ts";
import { saidIn } from "../../messages.ts";
import type { Turn } from "../../turns.ts";

/** An event of OpenHands, as far as it is used. */
export interface Event {
  id: string | undefined;
  parent: string | undefined;
  kind: string;
  order: number;
  /** Undefined if it is of no turn. */
  turn: Turn | undefined;
  /** Of the model's answer, whose calls are one turn. */
  response: string | undefined;
  tools: unknown;
}

/** `place` is its number in the file. */
export function eventOf(
  { value, path }: At,
  entry: string | undefined,
  place: number,
  leftOut: LeftOut,
): Event {
  const kind = requiredText({ value, path }, "kind");
  const number = /event-(\d+)-[^/]*$/.exec(entry ?? "")?.[1];
  const turn = turnOf({ value, path }, kind);
  if (turn === undefined) leftOut.count("other_event");
  if (listIn(value, "extended_content").length > 0 || isObject(value.dynamic_context))
    leftOut.count("other_event");
  return {
    id: textIn(value, "id"),
    parent: textIn(value, "parent_id"),
    kind,
    order: number === undefined ? place : Number(number),
    turn,
    response: textIn(value, "llm_response_id"),
    tools: kind === "SystemPromptEvent" ? value.tools : undefined,
  };
}

function turnOf(event: At, kind: string): Turn | undefined {
  const { value, path } = event;
  const at = timeOf(value.timestamp);
  const of = textIn(value, "tool_call_id");
  const answer = (content: unknown, isError: boolean): Turn => ({ by: "answer", of, content, isError, at });
  if (kind === "SystemPromptEvent") return { by: "system", content: value.system_prompt };
  if (kind === "AgentErrorEvent") return answer(requiredText(event, "error"), true);
  if (kind === "UserRejectObservation") return answer(requiredText(event, "rejection_reason"), true);
  if (kind === "ObservationEvent") {
    const { content, is_error } = objectAt(value.observation, [...path, "observation"]).value;
    return answer(saidIn(content), is_error === true);
  }
  if (kind === "MessageEvent") {
    const message = objectAt(value.llm_message, [...path, "llm_message"]).value;
    const content = saidIn(message.content);
    if (value.source !== "agent") return { by: "environment", content, at };
    return { by: "agent", content, reasoning: reasoningOf(message) };
  }
  if (kind !== "ActionEvent") return undefined;
  const call = objectAt(value.tool_call, [...path, "tool_call"]);
  const name = requiredText(call, "name");
  const calls = [{ id: textIn(call.value, "id") ?? of, name, input: call.value.arguments }];
  return { by: "agent", content: saidIn(value.thought), calls, reasoning: reasoningOf(value) };
}

/** Reasoning as a text; where there is none, its blocks. */
function reasoningOf(value: Record<string, unknown>): string[] {
  const text = textIn(value, "reasoning_content");
  if (text !== undefined) return [text];
  return listIn(value, "thinking_blocks").map((block) => textIn(block, "thinking") ?? "");
}
