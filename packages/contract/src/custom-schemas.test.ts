import { expect, test } from "bun:test";
import { z } from "zod";
import { list, maxIssues, objectWithRules, valuesByName } from "./custom-schemas.ts";
import {
  ClientEvaluationBatchRequest,
  EvaluateRequest,
  EvaluationResultBatchRequest,
} from "./evaluation/evaluate.ts";
import { exampleTags } from "./prediction/through-world.ts";
import { boundedObject } from "./text.ts";

const items = z.object({
  items: list(z.object({ name: z.string() }))
    .max(1_000)
    .nullish(),
});

test("a list accepts what zod's array accepts, and returns it unchanged", () => {
  for (const length of [0, 1, 100, 101, 1_000]) {
    const value = { items: Array.from({ length }, (_, index) => ({ name: String(index) })) };
    expect(items.parse(value)).toEqual(value);
  }
  expect(items.parse({ items: null })).toEqual({ items: null });
});

test("a list reports where its issues are, and stops after the first hundred", () => {
  const value = {
    items: Array.from({ length: 1_000 }, (_, index) => (index % 2 === 0 ? { name: "x" } : {})),
  };
  const issues = items.safeParse(value).error?.issues ?? [];
  expect(issues).toHaveLength(maxIssues);
  expect(issues[0]).toMatchObject({ code: "invalid_type", path: ["items", 1, "name"] });
  expect(issues.at(-1)).toMatchObject({ path: ["items", 199, "name"] });
});

test("a list that is too long is refused without checking its items", () => {
  let looked = 0;
  const counting = z.unknown().check(() => {
    looked += 1;
  });
  const { error } = list(counting).max(5).safeParse(Array(200_000).fill(1));
  expect(error?.issues).toMatchObject([{ code: "too_big", origin: "array", maximum: 5 }]);
  expect(looked).toBe(0);
});

test("a value that is not a list is refused", () => {
  expect(list(z.string()).safeParse({}).error?.issues).toMatchObject([
    { code: "invalid_type", expected: "array" },
  ]);
});

test("a record with too many entries is refused without checking them", () => {
  const tags = valuesByName(z.string(), z.string(), { maxEntries: 2, message: "Two at most" }).nullish();
  expect(tags.parse({ a: "1", b: "2" })).toEqual({ a: "1", b: "2" });
  expect(tags.parse(null)).toBeNull();
  expect(tags.safeParse({ a: 1 }).error?.issues).toMatchObject([{ code: "invalid_type", path: ["a"] }]);
  expect(tags.safeParse([]).error?.issues).toMatchObject([{ code: "invalid_type", expected: "record" }]);
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`k${index}`, index]));
  expect(tags.safeParse(many).error?.issues).toMatchObject([{ code: "custom", message: "Two at most" }]);
  const named = JSON.parse('{"__proto__":"1"}');
  expect(tags.safeParse(named).error?.issues).toMatchObject([{ code: "custom", path: ["__proto__"] }]);
  const compiled = z.compile(tags, { strict: true });
  expect([named, many, { a: 1 }, { a: "1" }, null].map((value) => z.validate(compiled, value))).toEqual([
    ...[false, false, false],
    ...[true, true],
  ]);
});

test("an entry named __proto__ counts towards an object's length, and is no example's tag", () => {
  const object = boundedObject(20, "Metadata");
  const named = JSON.parse('{"__proto__":"0123456789"}');
  expect(
    [{ a: "0123456789" }, { a: "0123456789abcdef" }, named].map((value) => issuesOf(object, value)),
  ).toEqual([
    [],
    [["", "Metadata may have at most 20 characters of JSON"]],
    [["", "Metadata may have at most 20 characters of JSON"]],
  ]);
  expect(issuesOf(object, [])).toMatchObject([["", expect.stringContaining("expected record")]]);
  expect(issuesOf(exampleTags, { a: "b" })).toEqual([]);
  expect(issuesOf(exampleTags, named)).toEqual([["__proto__", "Nothing can be named __proto__"]]);
});

function issuesOf(schema: z.ZodType, value: unknown): unknown[] {
  return schema.safeParse(value).error?.issues.map(({ path, message }) => [path.join("."), message]) ?? [];
}

test("both have the same JSON Schema as zod's own", () => {
  const described = z.toJSONSchema(z.object({ a: list(z.string()).max(3), b: z.array(z.string()).max(3) }));
  expect(described.properties?.a).toEqual(described.properties?.b);
  const record = valuesByName(z.string(), z.int(), { maxEntries: 2, message: "" });
  expect(z.toJSONSchema(record, { io: "input" })).toEqual(z.toJSONSchema(z.record(z.string(), z.int())));
});

const Pair = objectWithRules(
  { a: z.string().optional(), b: z.string().optional(), c: z.number().optional() },
  {
    isKept: (fields: { a?: unknown; b?: unknown }) => fields.a === undefined || fields.b === undefined,
    path: ["a"],
    message: "not both",
    jsonSchema: { not: { required: ["a", "b"] } },
  },
).meta({ id: "PairForTest" });

function pathsOf(value: unknown): unknown[] {
  return issuesOf(Pair, value);
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
