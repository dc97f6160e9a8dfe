/** One setting of a profile, and the kind of its control. */
export type ConfigField = {
  name: string;
  description: string | undefined;
  isRequired: boolean;
  /** The setting's default. */
  fallback: unknown;
} & (
  | { kind: "switch" }
  | { kind: "number" }
  | { kind: "texts" }
  | { kind: "json" }
  | { kind: "text"; isLong: boolean }
  | { kind: "choice"; options: string[] }
  | { kind: "choices"; options: string[] }
);

type Schema = Record<string, unknown>;

const longTextCharacters = 500;

/** The settings of a family, from the JSON Schema of its config. Settings without a fitting control are edited as JSON. */
export function readConfigFields(schema: Schema): ConfigField[] {
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(asSchema(schema.properties)).map(([name, property]) => {
    const part = asSchema(property);
    return {
      name,
      description: typeof part.description === "string" ? part.description : undefined,
      isRequired: required.includes(name),
      fallback: part.default,
      ...controlOf(part),
    };
  });
}

function controlOf(schema: Schema) {
  const { type, maxLength } = schema;
  const items = asSchema(schema.items);
  if (type === "boolean") return { kind: "switch" as const };
  if (type === "number" || type === "integer") return { kind: "number" as const };
  if (type === "string") {
    const options = optionsOf(schema);
    if (options.length > 0) return { kind: "choice" as const, options };
    return { kind: "text" as const, isLong: typeof maxLength === "number" && maxLength > longTextCharacters };
  }
  if (type === "array" && items.type === "string") {
    const options = optionsOf(items);
    return options.length > 0 ? { kind: "choices" as const, options } : { kind: "texts" as const };
  }
  return { kind: "json" as const };
}

function optionsOf(schema: Schema): string[] {
  return Array.isArray(schema.enum) ? schema.enum.filter((option) => typeof option === "string") : [];
}

function asSchema(value: unknown): Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}
