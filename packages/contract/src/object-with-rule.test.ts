import { expect, test } from "bun:test";
import { z } from "zod";
import { ClientEvaluationBatchRequest } from "./evaluation/client-evaluation.ts";
import { EvaluateRequest } from "./evaluation/evaluate.ts";
import { EvaluationResultBatchRequest } from "./evaluation/imported-result.ts";
import { objectWithRule } from "./object-with-rule.ts";

const Pair = objectWithRule(
  { a: z.string().optional(), b: z.string().optional(), c: z.number().optional() },
  {
    isKept: (fields: { a?: unknown; b?: unknown }) => fields.a === undefined || fields.b === undefined,
    path: ["a"],
    message: "not both",
    jsonSchema: { not: { required: ["a", "b"] } },
  },
).meta({ id: "PairForTest" });

function pathsOf(value: unknown): unknown[] {
  return Pair.safeParse(value).error?.issues.map(({ path, message }) => [path.join("."), message]) ?? [];
}

test("An object with a rule is refused if the rule is broken", () => {
  expect(pathsOf({ a: "a", c: 1 })).toEqual([]);
  expect(pathsOf({ a: "a", b: "b" })).toEqual([["a", "not both"]]);
});

test("Its broken rule is among the issues of its fields, once", () => {
  const [ofField, ofRule, ...others] = pathsOf({ a: "a", b: "b", c: "c" });
  expect(ofField).toMatchObject(["c", expect.any(String)]);
  expect(ofRule).toEqual(["a", "not both"]);
  expect(others).toEqual([]);
  expect(pathsOf({ c: "c" }).length).toBe(1);
  expect(pathsOf(null).length).toBe(1);
});

test("In a list, the rule's issue is at the place of its object, each time", () => {
  for (let time = 0; time < 2; time += 1) {
    const { error } = z.array(Pair).safeParse([{ a: "a", b: "b", c: "c" }]);
    expect(error?.issues.map(({ path }) => path.join("."))).toEqual(["0.c", "0.a"]);
  }
});

test("The requests with most texts can be compiled", () => {
  for (const schema of [EvaluateRequest, EvaluationResultBatchRequest, ClientEvaluationBatchRequest]) {
    expect(() => z.compile(schema, { strict: true })).not.toThrow();
  }
  const compiled = z.compile(Pair, { strict: true });
  expect(z.validate(compiled, { a: "a" })).toBe(true);
  expect(z.validate(compiled, { a: "a", b: "b" })).toBe(false);
});
