/** From each tool's name to its parameters, and from each parameter's name to its JSON type. */
export type ToolSchemas = Map<string, Map<string, string>>;

/** Reads a list of `{"name", "parameters": {NAME: {"type"}}}`; undefined if the text is not such a list. */
export function parseToolSchemas(text: string): ToolSchemas | undefined {
  try {
    const tools: unknown = JSON.parse(text);
    if (!Array.isArray(tools)) return undefined;
    return new Map(
      tools.map((tool: unknown) => [
        String(property(tool, "name")),
        new Map(
          Object.entries(property(tool, "parameters") ?? {}).map(([name, schema]) => [
            name,
            String(property(schema, "type") ?? ""),
          ]),
        ),
      ]),
    );
  } catch {
    return undefined;
  }
}

/** Describes what is wrong with a call; undefined if nothing is or if there is no schema. */
export function findCallError(
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
