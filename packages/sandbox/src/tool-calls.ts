import { findFault, parseToolSchemas } from "./tool-schemas.ts";

export interface ToolCall {
  name: string;
  parameters: Map<string, unknown>;
}

/** Reads an action that calls tools, as JSON: one `{"name", "parameters"}` or a list of them. */
export function readToolCalls(action: string): ToolCall[] | undefined {
  if (!/^[[{]/.test(action)) return undefined;
  try {
    const value: unknown = JSON.parse(action);
    const calls = (Array.isArray(value) ? value : [value]).map(readToolCall);
    return calls.length > 0 && calls.every((call) => call !== undefined) ? calls : undefined;
  } catch {
    return undefined;
  }
}

function readToolCall(value: unknown): ToolCall | undefined {
  if (typeof value !== "object" || value === null || !("name" in value)) return undefined;
  const { name } = value;
  const parameters = "parameters" in value ? value.parameters : "arguments" in value ? value.arguments : {};
  if (typeof name !== "string" || typeof parameters !== "object" || parameters === null) return undefined;
  return { name, parameters: new Map(Object.entries(parameters)) };
}

/** Answers in the form that tools answer in. The sandbox knows what a call must look like, and nothing behind it. */
export function answerToolCalls(calls: readonly ToolCall[], toolSchemas: string): string {
  const schemas = parseToolSchemas(toolSchemas);
  const answers = calls.map((call) => answer(call, findFault(schemas, call.name, call.parameters)));
  return `<tool_response>\n${JSON.stringify(answers.length === 1 ? answers[0] : answers)}\n</tool_response>`;
}

function answer({ name, parameters }: ToolCall, fault: string | undefined): unknown {
  if (fault !== undefined) return { error: fault };
  const page = parameters.get("page_index");
  // Nothing lies behind the first page of nothing, so an agent that turns pages comes to an end.
  if (typeof page === "number" && page > 0) return [];
  return { error: `This is a rule-based simulator of a text world and holds no data for the tool ${name}.` };
}
