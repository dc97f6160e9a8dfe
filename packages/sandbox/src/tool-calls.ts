import { findCallError, parseToolSchemas } from "./tool-schemas.ts";

export interface ToolCall {
  name: string;
  parameters: Map<string, unknown>;
}

/** Reads an action that calls tools: JSON with one `{"name", "parameters"}` or a list of them. */
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

/** Responds in the form of a tool response. The sandbox can check a call against its schema, but has no data for it. */
export function respondToToolCalls(calls: readonly ToolCall[], toolSchemas: string): string {
  const schemas = parseToolSchemas(toolSchemas);
  const responses = calls.map((call) => respond(call, findCallError(schemas, call.name, call.parameters)));
  return `<tool_response>\n${JSON.stringify(responses.length === 1 ? responses[0] : responses)}\n</tool_response>`;
}

function respond({ name, parameters }: ToolCall, error: string | undefined): unknown {
  if (error !== undefined) return { error };
  const page = parameters.get("page_index");
  // Later pages are empty, so an agent that pages through results stops.
  if (typeof page === "number" && page > 0) return [];
  return { error: `This is a rule-based simulator of a text world and holds no data for the tool ${name}.` };
}
