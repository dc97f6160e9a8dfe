import * as fc from "fast-check";
import { resolveSchema, type Schema, type Schemas } from "../document.ts";
import { type Draw, rawJson, reference } from "./draw.ts";
import { meaningfulText, type Served } from "./vocabulary.ts";

type Body = Record<string, unknown>;
/** Draws a value of a schema. */
type InstanceOf = (schema: Schema, draw: Draw, source: Source) => unknown;

const taxonomies: readonly unknown[] = [
  { categories: [{ name: "Facts", errors: [{ name: "Wrong number" }, { name: "Wrong name" }] }] },
  { Facts: ["Wrong number", "Wrong name"], Form: { description: "How it looks", errors: ["No JSON"] } },
  ["Wrong", { name: "Incomplete", description: "Something is missing" }],
];

const sampleFields = ["evaluated_model_input", "evaluated_model_output", "evaluated_model_gold_answer"];

/**
 * Applies rules that the schema does not express: between fields, and between a body and the server's data. Without it,
 * hardly any request would pass validation.
 */
function makeMeaningful(
  object: Body,
  { properties = {} }: Schema,
  draw: Draw,
  source: Source,
  instanceOf: InstanceOf,
): void {
  if (draw.chance(0.15)) return;
  if ("evaluators" in properties) fillSample(object, draw, source);
  if ("evaluator" in properties) nameEvaluator(object, draw, source);
  if ("error_taxonomy_name" in properties && "body" in properties) fillTaxonomy(object, draw, source);
  if (typeof object.config === "object") fillConfig(object, draw, source, instanceOf);
}

function fillSample(object: Body, draw: Draw, source: Source): void {
  delete object.criteria;
  object.evaluators = Array.from({ length: draw.pick([1, 1, 2, 3]) }, () => ({
    evaluator: draw.pick(source.served.evaluators),
  }));
  for (const name of sampleFields) {
    if (draw.chance(0.8)) object[name] = meaningfulText(draw, name, source.served);
  }
}

/** An evaluator and a profile drawn separately would hardly ever belong together. */
function nameEvaluator(object: Body, draw: Draw, { served }: Source): void {
  for (const name of Object.keys(object)) delete object[name];
  object.evaluator = draw.pick(served.evaluators);
}

function fillTaxonomy(object: Body, draw: Draw, { served }: Source): void {
  object.body = draw.pick(taxonomies);
  delete object[draw.chance(0.7) ? "error_taxonomy_id" : "error_taxonomy_name"];
  if (!("error_taxonomy_id" in object)) {
    object.error_taxonomy_name = meaningfulText(draw, "error_taxonomy_name", served);
  }
}

/** Gives a profile a configuration that matches its family's schema. */
function fillConfig(object: Body, draw: Draw, source: Source, instanceOf: InstanceOf): void {
  const [first, ...others] = source.served.families;
  if (first === undefined) return;
  // A request to revise a profile does not contain its family, so half of the profiles have the same family.
  const { name, configSchema } = others.length === 0 || draw.chance(0.5) ? first : draw.pick(others);
  if ("name" in object) {
    delete object.evaluator_id;
    object.evaluator_family = name;
  }
  object.config = instanceOf(configSchema, draw, source);
}

export interface Source {
  schemas: Schemas;
  served: Served;
  /** A cache by purpose: creating an arbitrary takes longer than drawing from it. */
  arbitraries: Map<string, fc.Arbitrary<string>>;
}

/** Parameters and fields that contain the id of a result. */
const resultIds = new Set(["id", "after_id", "before_id"]);
const earliest = Date.UTC(2020, 0, 1);
const dayMs = 86_400_000;
const anyJson = fc.jsonValue({ maxDepth: 3 });
const uuids = fc.uuid();
const units = ["grapheme-ascii", "grapheme", "binary-ascii", "binary"] as const;

/** Makes a value that is valid for the schema of the field `name`. */
export function instanceOf(schema: Schema, draw: Draw, source: Source, name = ""): unknown {
  const { anyOf, oneOf, type, ...own } = resolveSchema(schema, source.schemas);
  const branches = anyOf ?? oneOf;
  if (branches !== undefined) return instanceOf(pickBranch(branches, draw), draw, source, name);
  if (own.const !== undefined) return own.const;
  if (own.enum !== undefined) return draw.pick(own.enum);
  const one = Array.isArray(type) ? draw.pick(draw.chance(0.8) ? withoutNull(type) : type) : type;
  switch (one) {
    case "null":
      return null;
    case "boolean":
      return draw.chance(0.5);
    case "integer":
      return resultIds.has(name) && draw.chance(0.7)
        ? rawJson(reference(draw, "result"))
        : draw.value(integerWithin(own));
    case "number":
      return draw.value(fc.double({ ...doubleBounds(own), noNaN: true, noDefaultInfinity: true }));
    case "string":
      return textOf(own, draw, source, name);
    case "array":
      return arrayOf(own, draw, source, name);
    case "object":
      return objectOf(own, draw, source);
    default:
      return draw.value(anyJson);
  }
}

function pickBranch(branches: Schema[], draw: Draw): Schema {
  const solid = branches.filter(({ type }) => type !== "null");
  return draw.pick(draw.chance(0.85) && solid.length > 0 ? solid : branches);
}

function withoutNull(types: string[]): string[] {
  return types.filter((type) => type !== "null");
}

/** Mostly small, because few large numbers are meaningful. */
function integerWithin({ minimum, maximum, exclusiveMinimum }: Schema): fc.Arbitrary<number> {
  const min = minimum ?? (exclusiveMinimum === undefined ? -1_000 : exclusiveMinimum + 1);
  const max = Math.min(maximum ?? Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
  const small = fc.integer({ min, max: Math.max(min, Math.min(max, min + 1_000)) });
  return fc.oneof(
    { weight: 4, arbitrary: small },
    { weight: 1, arbitrary: fc.maxSafeInteger().map((n) => Math.max(min, Math.min(max, n))) },
  );
}

function doubleBounds({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: Schema) {
  const min = minimum ?? exclusiveMinimum ?? -1e6;
  const max = maximum ?? exclusiveMaximum ?? 1e6;
  return {
    min,
    max,
    minExcluded: exclusiveMinimum !== undefined,
    maxExcluded: exclusiveMaximum !== undefined,
  };
}

function textOf(schema: Schema, draw: Draw, source: Source, name: string): string {
  const meaningful = draw.chance(0.8) ? meaningfulText(draw, name, source.served) : undefined;
  if (meaningful !== undefined) return meaningful;
  switch (schema.format) {
    case "uuid":
      return draw.value(uuids);
    case "date-time":
      return instantOf(draw);
    case "date":
      return instantOf(draw).slice(0, 10);
    case "duration":
      return draw.pick(["PT1S", "PT0.25S", "P1DT2H3M4S", "P3W", "PT0S"]);
  }
  if (schema.pattern !== undefined) return draw.value(matching(schema.pattern, source));
  const { minLength = 0, maxLength = 40 } = schema;
  return draw.value(texts(source, draw.pick(units), minLength, Math.max(minLength, Math.min(maxLength, 40))));
}

function instantOf(draw: Draw): string {
  const instant = new Date(earliest + draw.below(4_000) * dayMs + draw.below(dayMs)).toISOString();
  return draw.pick([instant, instant.replace(/\.\d+/, ""), instant.replace("Z", "+05:30")]);
}

type Unit = (typeof units)[number];

function texts(source: Source, unit: Unit, minLength: number, maxLength: number): fc.Arbitrary<string> {
  const make = () => fc.string({ unit, minLength, maxLength });
  return madeOnce(source, `${unit} ${minLength} ${maxLength}`, make);
}

function matching(pattern: string, source: Source): fc.Arbitrary<string> {
  return madeOnce(source, pattern, () => arbitraryOf(pattern));
}

function madeOnce({ arbitraries }: Source, name: string, make: () => fc.Arbitrary<string>) {
  const known = arbitraries.get(name) ?? make();
  arbitraries.set(name, known);
  return known;
}

/** fast-check does not support lookaheads; for such patterns, any text is used. */
function arbitraryOf(pattern: string): fc.Arbitrary<string> {
  return /\(\?[=!<]/.test(pattern) ? fc.string({ maxLength: 20 }) : fc.stringMatching(new RegExp(pattern));
}

function arrayOf(schema: Schema, draw: Draw, source: Source, name: string): unknown[] {
  const { items = {}, prefixItems, minItems = 0, maxItems = 20 } = schema;
  if (prefixItems !== undefined) return prefixItems.map((item) => instanceOf(item, draw, source, name));
  const length = Math.max(minItems, Math.min(maxItems, draw.pick([0, 1, 1, 2, 3])));
  return Array.from({ length }, () => instanceOf(items, draw, source, name));
}

function objectOf(schema: Schema, draw: Draw, source: Source): Record<string, unknown> {
  const { properties = {}, required = [], additionalProperties } = schema;
  const share = draw.pick([0.1, 0.35, 0.9]);
  const object: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(properties)) {
    if (!required.includes(name) && !draw.chance(share)) continue;
    object[name] = instanceOf(property, draw, source, name);
  }
  makeMeaningful(object, schema, draw, source, instanceOf);
  if (typeof additionalProperties === "object" && draw.chance(0.3)) {
    const name = draw.value(fc.string({ unit: "grapheme", maxLength: 12 }));
    object[name] = instanceOf(additionalProperties, draw, source);
  }
  return object;
}
