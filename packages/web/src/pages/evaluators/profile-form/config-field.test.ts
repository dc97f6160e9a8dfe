import { expect, test } from "bun:test";
import { readConfigFields } from "./config-field.ts";

function kindOf(property: unknown): unknown {
  const [field] = readConfigFields({ type: "object", properties: { setting: property } });
  return field?.kind;
}

test("every kind of setting gets a fitting control", () => {
  expect(kindOf({ type: "boolean" })).toBe("switch");
  expect(kindOf({ type: "number", minimum: 0 })).toBe("number");
  expect(kindOf({ type: "string", enum: ["all", "any"] })).toBe("choice");
  expect(kindOf({ type: "array", items: { type: "string" } })).toBe("texts");
  expect(kindOf({ type: "array", items: { type: "string", enum: ["email"] } })).toBe("choices");
  expect(kindOf({ anyOf: [{ type: "boolean" }, { type: "object" }] })).toBe("json");
  expect(kindOf({ type: "array", items: { type: "object" } })).toBe("json");
});

test("a text that may be long gets several lines", () => {
  const properties = {
    short: { type: "string", maxLength: 80 },
    long: { type: "string", maxLength: 20_000 },
  };
  expect(readConfigFields({ properties })).toMatchObject([
    { name: "short", kind: "text", isLong: false },
    { name: "long", kind: "text", isLong: true },
  ]);
});

test("a setting has its description, its default and whether it is required", () => {
  const schema = {
    properties: { threshold: { type: "number", default: 0.9, description: "The lowest that passes." } },
    required: ["threshold"],
  };
  expect(readConfigFields(schema)).toEqual([
    {
      name: "threshold",
      kind: "number",
      description: "The lowest that passes.",
      isRequired: true,
      fallback: 0.9,
    },
  ]);
});

test("a schema without properties has no settings", () => {
  expect(readConfigFields({ type: "object" })).toEqual([]);
});
