import { expect, test } from "bun:test";
import { fieldOf, formsOf } from "./fields.ts";
import type { Schema } from "./openapi.ts";

const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
const schemas: Record<string, Schema> = {
  Tree: { type: "object", properties: { children: { type: "array", items: ref("Tree") } } },
  Deployment: { type: "object", properties: { deployment: { type: "string" } }, required: ["deployment"] },
  Baseline: {
    type: "object",
    properties: { baseline: { type: "string", const: "no-change" }, world: { type: "string" } },
  },
  Named: { type: "string", description: "Of the schema.", minLength: 1, maxLength: 64 },
};
const notes = (schema: Schema) => fieldOf(schemas, "x", schema, false).notes;
const type = (schema: Schema) => fieldOf(schemas, "x", schema, false).type;

test("types are in words, null included", () => {
  expect(type({ anyOf: [{ type: "string", format: "date-time" }, { type: "null" }] })).toBe("time or null");
  expect(type({ type: ["integer", "null"] })).toBe("integer or null");
  expect(type({ type: "array", items: ref("Deployment") })).toBe("list of objects");
  expect(type({ type: "object", additionalProperties: { type: "number" } })).toBe("map of numbers");
  expect(type({ enum: ["a", "b"] })).toBe("string");
  expect(type({})).toBe("any value");
});

test("bounds, values and defaults are told, and bounds that bound nothing are not", () => {
  expect(notes({ ...ref("Named"), default: "house" })).toEqual(["1 to 64 characters", 'default `"house"`']);
  expect(notes({ type: "integer", minimum: 1, maximum: Number.MAX_SAFE_INTEGER })).toEqual(["at least 1"]);
  expect(
    notes({ type: "integer", minimum: -Number.MAX_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
  ).toEqual([]);
  expect(notes({ type: "number", exclusiveMinimum: 0, maximum: 1000 })).toEqual(["above 0", "at most 1,000"]);
  expect(notes({ anyOf: [{ enum: ["a", 2] }, { type: "null" }] })).toEqual(['`"a"`, `2`']);
  expect(notes({ type: "string", minLength: 1 })).toEqual(["not empty"]);
  expect(notes({ type: "string", pattern: "^[a-z]+$" })).toEqual(["matches `^[a-z]+$`"]);
  expect(notes({ type: "string", pattern: "^[a-z]+$", description: "Its name." })).toEqual([]);
});

test("a field's own description replaces that of its schema", () => {
  expect(fieldOf(schemas, "x", { ...ref("Named"), description: "Its own." }, false).description).toBe(
    "Its own.",
  );
  expect(fieldOf(schemas, "x", ref("Named"), true)).toMatchObject({
    description: "Of the schema.",
    isRequired: true,
  });
});

test("forms are told apart by a value, or by the fields that the others lack", () => {
  const forms = formsOf(schemas, { anyOf: [ref("Deployment"), ref("Baseline")] });
  expect(forms.map(({ title }) => title)).toEqual(["with `deployment`", 'with `baseline` "no-change"']);
  expect(forms[0]?.fields[0]).toMatchObject({ name: "deployment", isRequired: true });
});

test("the fields of a list's items are those of the list, and a schema that contains itself ends", () => {
  const [form] = formsOf(schemas, ref("Tree"));
  expect(form?.fields[0]).toMatchObject({ name: "children", type: "list of objects" });
  expect(form?.fields[0]?.forms[0]?.fields[0]?.name).toBe("children");
  expect(JSON.stringify(form).length).toBeLessThan(5_000);
});
