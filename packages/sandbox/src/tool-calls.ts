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

/** From each tool's name to its parameters, and from each parameter's name to its JSON type. */
type ToolSchemas = Map<string, Map<string, string>>;

/** Reads a list of `{"name", "parameters": {NAME: {"type"}}}`, or of tools as OpenAI or MCP write them; undefined if the text is neither. */
function parseToolSchemas(text: string): ToolSchemas | undefined {
  try {
    const tools: unknown = JSON.parse(text);
    if (!Array.isArray(tools)) return undefined;
    const described = tools.map((tool: unknown) => property(tool, "function") ?? tool);
    if (described.some((tool) => property(tool, "name") === undefined)) return undefined;
    return new Map(described.map((tool) => [String(property(tool, "name")), typesOfParameters(tool)]));
  } catch {
    return undefined;
  }
}

function typesOfParameters(tool: unknown): Map<string, string> {
  const parameters = property(tool, "parameters") ?? property(tool, "inputSchema");
  const isJsonSchema = property(parameters, "type") === "object";
  const types = isJsonSchema ? property(parameters, "properties") : parameters;
  return new Map(
    Object.entries(types ?? {}).map(([name, schema]) => [name, String(property(schema, "type") ?? "")]),
  );
}

/** Describes what is wrong with a call; undefined if nothing is or if there is no schema. */
function findCallError(
  schemas: ToolSchemas | undefined,
  tool: string,
  parameters: ReadonlyMap<string, unknown>,
): string | undefined {
  if (schemas === undefined) return undefined;
  const schema = schemas.get(tool);
  if (schema === undefined) return `There is no tool ${tool}.`;
  for (const [name, value] of parameters) {
    const type = schema.get(name);
    if (type === undefined) return `The tool ${tool} takes no parameter ${name}.`;
    if (!isOfType(value, type)) return `The parameter ${name} of the tool ${tool} must be of type ${type}.`;
  }
  return undefined;
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case "string":
    case "boolean":
    case "number":
      return typeof value === type;
    case "integer":
      return Number.isInteger(value);
    case "array":
      return Array.isArray(value);
    default:
      return true;
  }
}

function property(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined;
}
