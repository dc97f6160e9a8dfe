import { expect, test } from "bun:test";
import { EvaluationError } from "../outcome.ts";
import { compileJsonSchema, type JsonSchema } from "./json-schema.ts";

const compile = (schema: JsonSchema) => compileJsonSchema(schema, { allErrors: false });
const accepts = (schema: JsonSchema, value: unknown) => compile(schema)(value).length === 0;

function nest(levels: number): JsonSchema {
  let schema: JsonSchema = { type: "string" };
  for (let level = 0; level < levels; level += 1) schema = { not: schema };
  return schema;
}

test.each<[string, JsonSchema, string]>([
  ["a misspelt keyword", { requird: ["a"] }, "unknown keyword"],
  ["an unknown type", { type: "text" }, "type"],
  ["an unknown format", { format: "colour" }, "unknown format"],
  ["a reference that leads nowhere", { $ref: "#/$defs/a" }, "can't resolve"],
  ["a reference to another place on the net", { $ref: "https://example.com/a.json" }, "can't resolve"],
  ["another dialect", { $schema: "http://json-schema.org/draft-04/schema#" }, "2020-12 or draft-07"],
  ["an asynchronous schema", { $async: true, type: "string" }, "$async"],
  ["a pattern with look-around", { pattern: "(?=a)" }, "error parsing regexp"],
  ["a pattern that would grow", { pattern: "(a{0,1000}){0,1000}" }, "repeats too much"],
  [
    "patterns that are large together",
    { anyOf: [{ pattern: "a{900}".repeat(9) }, { pattern: "b{900}".repeat(9) }] },
    "together",
  ],
  ["10,000 levels", nest(10_000), "deeper than"],
  ["a long schema", { description: "x".repeat(40_000) }, "longer than"],
])("%s is refused", (_name, schema, reason) => {
  expect(() => compile(schema)).toThrow(reason);
});

test("the dialect follows $schema", () => {
  expect(accepts({ prefixItems: [{ type: "string" }] }, [1])).toBe(false);
  const draft07 = { $schema: "http://json-schema.org/draft-07/schema#", items: [{ type: "string" }] };
  expect(accepts(draft07, [1])).toBe(false);
  expect(accepts(draft07, ["a", 1])).toBe(true);
});

test("inherited properties do not count", () => {
  expect(accepts({ required: ["constructor"] }, {})).toBe(false);
  expect(accepts({ required: ["__proto__"] }, {})).toBe(false);
  expect(accepts({ properties: { toString: { type: "string" } } }, {})).toBe(true);
});

test("JavaScript's patterns are read as such, and match by code points", () => {
  expect(accepts({ pattern: "^\\u00e9.\\/$" }, "é😀/")).toBe(true);
  expect(accepts({ pattern: "^(?<year>\\d{4})$" }, "2026")).toBe(true);
});

test("several patterns of a schema are distinguished", () => {
  const schema = { properties: { a: { pattern: "^x" }, b: { pattern: "^y" } } };
  expect(accepts(schema, { a: "x", b: "y" })).toBe(true);
  expect(accepts(schema, { a: "x", b: "x" })).toBe(false);
  expect(accepts(schema, { a: "y", b: "y" })).toBe(false);
});

test("a pattern that explodes in a backtracking engine ends", () => {
  const started = performance.now();
  expect(accepts({ pattern: "^(a|a)*$" }, `${"a".repeat(100_000)}b`)).toBe(false);
  expect(performance.now() - started).toBeLessThan(5_000);
});

test("a recursive schema works", () => {
  const tree = { type: "object", required: ["kids"], properties: { kids: { items: { $ref: "#" } } } };
  expect(accepts(tree, { kids: [{ kids: [] }] })).toBe(true);
  expect(accepts(tree, { kids: [{}] })).toBe(false);
});

test.each(["allOf", "anyOf", "oneOf"])("references that double 40 times by %s are stopped", (keyword) => {
  const $defs: Record<string, unknown> = { d40: { type: "string" } };
  for (let level = 0; level < 40; level += 1) {
    const $ref = `#/$defs/d${level + 1}`;
    $defs[`d${level}`] = { [keyword]: [{ $ref }, { $ref }] };
  }
  const started = performance.now();
  const validate = compile({ $defs, $ref: "#/$defs/d0" });
  expect(() => validate(keyword === "anyOf" ? 1 : "x")).toThrow(EvaluationError);
  expect(performance.now() - started).toBeLessThan(5_000);
});

test("errors that pile up without any reference are stopped", () => {
  const anyOf = Array.from({ length: 100 }, (_, index) => ({ const: `c${index}` }));
  const validate = compile({ contains: { anyOf } });
  expect(() => validate(Array.from({ length: 100_000 }, () => 1))).toThrow(EvaluationError);
});
