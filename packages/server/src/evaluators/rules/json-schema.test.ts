import { expect, test } from "bun:test";
import { EvaluationError } from "../outcome.ts";
import { jsonSchema } from "./json-schema.ts";

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
