import { expect, test } from "bun:test";
import { EvaluationError } from "../outcome.ts";
import { compileJsonSchema, type JsonSchema, jsonSchema } from "./json-schema.ts";

function evaluate(output: string, config: Record<string, unknown>) {
  return jsonSchema.prepare(jsonSchema.config.parse(config))({ output });
}

const note = {
  type: "object",
  required: ["id", "tags"],
  properties: { id: { type: "integer" }, tags: { items: { type: "string" } } },
};

test("valid output passes, in the tags of a tool's answer too", () => {
  expect(evaluate('{"id":1,"tags":["é"]}', { schema: note })).toMatchObject({ pass: true, score: 1 });
  const tagged = '<think>?</think><tool_response>\n{"id":1,"tags":[]}\n</tool_response>';
  expect(evaluate(tagged, { schema: note }).pass).toBe(true);
  expect(evaluate(tagged, { schema: note, strip_tags: false }).pass).toBe(false);
});

test("the dialect that the schema names is the one that counts", () => {
  const schema = { $schema: "http://json-schema.org/draft-07/schema#", items: [{ type: "string" }] };
  expect(evaluate("[1]", { schema }).pass).toBe(false);
  expect(evaluate('["a",1]', { schema }).pass).toBe(true);
});

test("a price is a multiple of a cent", () => {
  const schema = { items: { multipleOf: 0.01 } };
  expect(evaluate("[19.99, 0.07, 1234567.89, 3]", { schema }).pass).toBe(true);
  expect(evaluate("[19.995]", { schema }).pass).toBe(false);
  expect(evaluate("1e308", { schema: { multipleOf: 0.5 } }).pass).toBe(true);
  for (const [value, multipleOf] of [
    ["1", 1_000_000],
    ["1000000000000000.25", 0.5],
    ["1.0000005", 1],
    ["1000000000000000.5", 1],
    ["0.004", 0.01],
  ])
    expect(evaluate(`${value}`, { schema: { multipleOf } }).extra).toMatchObject({
      errors: [{ message: `must be multiple of ${multipleOf}` }],
    });
});

test("errors are reported with their places", () => {
  const verdict = evaluate('{"id":"1","tags":["a",2]}', { schema: note });
  expect(verdict).toMatchObject({
    pass: false,
    score: 0,
    extra: {
      errors: [
        { path: "/id", message: "must be integer" },
        { path: "/tags/1", message: "must be string" },
      ],
    },
  });
  expect(verdict.explain()).toBe("The output is not valid: /id must be integer; /tags/1 must be string.");
});

test("of many errors the first are listed", () => {
  const verdict = evaluate(JSON.stringify(Array(100).fill(1)), { schema: { items: { type: "string" } } });
  expect(verdict.extra?.errors).toHaveLength(20);
  expect(verdict.explain()).toEndWith("; and 95 more.");
});

test("a text that is not JSON fails with the place where it breaks", () => {
  const verdict = evaluate('<think>😀</think>{"a":1,}', { schema: true });
  expect(verdict).toMatchObject({ pass: false, score: 0, positions: [[23, 24]] });
  expect(verdict.explain()).toContain("not JSON from character 23 on");
  expect(evaluate("[".repeat(10_000) + "]".repeat(10_000), { schema: {} }).explain()).toContain(
    "nested deeper",
  );
});

test("a schema that does not compile is rejected at its field", () => {
  for (const schema of [{ type: "text" }, { $ref: "#/a" }, { pattern: "(?=a)" }]) {
    const { error } = jsonSchema.config.safeParse({ schema });
    expect(error?.issues.map(({ path }) => path)).toEqual([["schema"]]);
  }
  expect(jsonSchema.config.safeParse({ schema: "true" }).success).toBe(false);
});

test("a schema that refers to itself endlessly gives no verdict", () => {
  expect(() => evaluate("1", { schema: { allOf: [{ $ref: "#" }] } })).toThrow(EvaluationError);
});

test("the default profile takes any JSON", () => {
  const evaluateDefault = jsonSchema.prepare(jsonSchema.config.parse(jsonSchema.builtInProfiles[0]?.config));
  expect(evaluateDefault({ output: " null " }).pass).toBe(true);
  expect(evaluateDefault({ output: "The oven is closed." }).pass).toBe(false);
});

test("small and plain schemas are cheap, all others expensive", () => {
  const isExpensive = (output: string, schema: unknown) =>
    (jsonSchema.estimateMs?.({ output }, jsonSchema.config.parse({ schema })) ?? 0) > 1;
  expect(isExpensive("{}", note)).toBe(false);
  expect(isExpensive("x".repeat(10_000), note)).toBe(true);
  expect(isExpensive("{}", { $defs: { a: true }, $ref: "#/$defs/a" })).toBe(true);
  expect(isExpensive("[]", { uniqueItems: true })).toBe(true);
  expect(isExpensive("[]", { properties: { a: { pattern: "a" } } })).toBe(true);
});

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
