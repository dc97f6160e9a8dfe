import type { Schema } from "../document/schema.ts";
import type { Draw } from "./draw.ts";
import type { Source } from "./instance-of.ts";
import { meaningfulText } from "./vocabulary.ts";

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
export function makeMeaningful(
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
