import type { Schema } from "./openapi.ts";

/** A field of a body, as a row of a table. */
export interface Field {
  name: string;
  type: string;
  isRequired: boolean;
  isDeprecated: boolean;
  /** The field's bounds, values and default, each as a short text. */
  notes: string[];
  description: string | undefined;
  /** The field's own fields, for each form that it may have. */
  forms: Form[];
}

export interface Form {
  /** Distinguishes one of several forms. */
  title: string | undefined;
  fields: Field[];
}

type Schemas = Readonly<Record<string, Schema>>;

/** Deeper fields are hardly ever read, and some schemas contain themselves. */
const maxDepth = 5;
const maxShownPattern = 60;

/** The fields of a schema, for each form that it may have; none for a schema without fields. */
export function formsOf(schemas: Schemas, schema: Schema, depth = 0): Form[] {
  if (depth > maxDepth) return [];
  const forms = alternatives(schemas, schema).filter((one) => one.properties !== undefined);
  const shown = forms.length > 0 ? forms : alternatives(schemas, schema).flatMap((one) => innerOf(one));
  if (forms.length === 0) return shown.flatMap((inner) => formsOf(schemas, inner, depth));
  return forms.map((form) => ({
    title: forms.length > 1 ? titleOf(schemas, form, forms) : undefined,
    fields: Object.entries(form.properties ?? {}).map(([name, property]) =>
      fieldOf(schemas, name, property, form.required?.includes(name) ?? false, depth + 1),
    ),
  }));
}

export function fieldOf(
  schemas: Schemas,
  name: string,
  schema: Schema,
  isRequired: boolean,
  depth = 0,
): Field {
  const resolved = resolve(schemas, schema);
  return {
    name,
    type: typeOf(schemas, schema),
    isRequired,
    isDeprecated: resolved.deprecated === true,
    notes: notesOf(schemas, schema),
    description: resolved.description,
    forms: formsOf(schemas, schema, depth),
  };
}

/** The schema of the items of a list or the values of a map. */
function innerOf({ items, additionalProperties }: Schema): Schema[] {
  if (items !== undefined) return [items];
  return typeof additionalProperties === "object" ? [additionalProperties] : [];
}

function resolve(schemas: Schemas, schema: Schema): Schema {
  const { $ref, ...own } = schema;
  if ($ref === undefined) return schema;
  const referred = schemas[$ref.slice("#/components/schemas/".length)];
  return referred === undefined ? own : { ...resolve(schemas, referred), ...own };
}

/** The alternatives that a schema allows, except null. */
function alternatives(schemas: Schemas, schema: Schema): Schema[] {
  const resolved = resolve(schemas, schema);
  const several = severalOf(resolved);
  if (several === undefined) return resolved.type === "null" ? [] : [resolved];
  return several.flatMap((one) => alternatives(schemas, one));
}

function isNullable(schemas: Schemas, schema: Schema): boolean {
  const resolved = resolve(schemas, schema);
  const several = severalOf(resolved) ?? [];
  return resolved.type === "null" || several.some((one) => isNullable(schemas, one));
}

function severalOf(schema: Schema): readonly Schema[] | undefined {
  const { type, anyOf, oneOf = anyOf } = schema;
  return Array.isArray(type) ? type.map((one: string) => ({ ...schema, type: one })) : oneOf;
}

function typeOf(schemas: Schemas, schema: Schema): string {
  const types = alternatives(schemas, schema).map((one) => {
    if (one.items !== undefined) return `list of ${pluralOf(typeOf(schemas, one.items))}`;
    if (one.type === "object" && one.properties === undefined && typeof one.additionalProperties === "object")
      return `map of ${pluralOf(typeOf(schemas, one.additionalProperties))}`;
    const value = one.const ?? one.enum?.[0];
    const type = one.type?.toString() ?? (value === undefined ? "any value" : typeof value);
    return one.format === "date-time" ? "time" : one.format === "uuid" ? "UUID" : type;
  });
  if (isNullable(schemas, schema)) types.push("null");
  return [...new Set(types)].join(" or ") || "any value";
}

function pluralOf(type: string): string {
  return type.includes(" or ") || type === "any value" ? `(${type})` : `${type}s`;
}

function notesOf(schemas: Schemas, schema: Schema): string[] {
  const whole = resolve(schemas, schema);
  const notes = alternatives(schemas, schema).flatMap((one) => [
    ...valuesOf(one),
    range(one.minLength, one.maxLength, "characters"),
    range(one.minItems, one.maxItems, "items"),
    range(undefined, one.maxProperties, "entries"),
    one.exclusiveMinimum !== undefined && `above ${one.exclusiveMinimum}`,
    range(one.minimum, one.maximum),
    one.exclusiveMaximum !== undefined && `below ${one.exclusiveMaximum}`,
    one.pattern !== undefined &&
      one.format === undefined &&
      whole.description === undefined &&
      one.pattern.length <= maxShownPattern &&
      `matches \`${one.pattern}\``,
  ]);
  if (whole.default !== undefined) notes.push(`default \`${JSON.stringify(whole.default)}\``);
  return [...new Set(notes.filter((note) => typeof note === "string"))];
}

function valuesOf({ const: only, enum: values = only === undefined ? [] : [only] }: Schema): string[] {
  return values.length === 0 ? [] : [values.map((value) => `\`${JSON.stringify(value)}\``).join(", ")];
}

/** zod's default bounds of an integer, which convey nothing. */
const isOpen = (bound: number | undefined) =>
  bound === undefined || Math.abs(bound) >= Number.MAX_SAFE_INTEGER;

function range(least: number | undefined, most: number | undefined, unit = ""): string | false {
  const of = unit === "" ? "" : ` ${unit}`;
  const shown = (bound: number | undefined) => bound?.toLocaleString("en");
  if (isOpen(least) && isOpen(most)) return false;
  if (isOpen(most) && unit !== "" && (least ?? 0) <= 1) return least === 1 && "not empty";
  if (isOpen(most)) return `at least ${shown(least)}${of}`;
  if (isOpen(least)) return `at most ${shown(most)}${of}`;
  return `${shown(least)} to ${shown(most)}${of}`;
}

/** Tells a form from the others: the value of a field that has only one, else the fields that only this form has. */
function titleOf(schemas: Schemas, form: Schema, forms: readonly Schema[]): string {
  const fields = Object.entries(form.properties ?? {});
  for (const [name, property] of fields) {
    const { const: value } = resolve(schemas, property);
    if (value !== undefined) return `with \`${name}\` ${JSON.stringify(value)}`;
  }
  const all = fields.map(([name]) => name);
  const own = all.filter((name) =>
    forms.every((one) => one === form || one.properties?.[name] === undefined),
  );
  const names = (own.length > 0 ? own : all).slice(0, 3);
  return `with ${names.map((name) => `\`${name}\``).join(", ")}`;
}
