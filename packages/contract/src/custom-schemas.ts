import { z } from "zod";

/** What an object's fields must satisfy together, and the issue if they do not. */
export interface Rule {
  isKept(fields: object): boolean;
  path: string[];
  message: string;
  /** The rule in JSON Schema, for the OpenAPI document. */
  jsonSchema: object;
}

interface RuledObjectDefinition extends z.core.$ZodObjectDef {
  rule: Rule;
}

/** zod's object, but its rule is checked even if fields have issues, so that the caller gets all issues at once. */
const RuledObject = z.core.$constructor<z.ZodObject, RuledObjectDefinition>(
  "RuledObject",
  (schema, definition) => {
    z.ZodObject.init(schema, definition);
    const { parse } = schema._zod;
    const { isKept, path, message } = definition.rule;
    const addIssue = (payload: z.core.ParsePayload) => {
      const { value, issues } = payload;
      // If there are no other issues, the refinement in `objectWithRule` reports this one.
      if (issues.length === 0 || typeof value !== "object" || value === null || isKept(value)) return payload;
      // A copy, because zod prepends the path of the object to it.
      issues.push({ code: "custom", path: [...path], message, input: value, inst: schema });
      return payload;
    };
    schema._zod.parse = (payload, context) => {
      const parsed = parse(payload, context);
      return parsed instanceof Promise ? parsed.then(addIssue) : addIssue(parsed);
    };
  },
);

/** An object whose fields must satisfy a rule. A conditional check of zod's would do, but schemas with one cannot be compiled. */
export function objectWithRule<Shape extends z.core.$ZodLooseShape>(
  shape: Shape,
  rule: Rule,
): z.ZodObject<Shape> {
  const object = new RuledObject({ type: "object", shape, rule }) as unknown as z.ZodObject<Shape>;
  return object
    .refine((fields) => rule.isKept(fields), { path: rule.path, error: rule.message })
    .meta({ ...rule.jsonSchema });
}

/** The most validation issues reported for one request. No one reads more. */
export const maxIssues = 100;

/** zod's array, but it stops after `maxIssues` issues. */
const StoppingList = z.core.$constructor<z.ZodArray>("StoppingList", (schema, definition) => {
  z.ZodArray.init(schema, definition);
  const { parse } = schema._zod;
  const maxItems = Math.min(...z.core.util.sizeCaps(definition.checks).map(([maximum]) => maximum));
  schema._zod.parse = (payload, context) => {
    const items: unknown = payload.value;
    // zod is fast enough for short lists, and refuses lists that are too long without checking their items.
    if (!Array.isArray(items) || items.length <= maxIssues || items.length > maxItems) {
      return parse(payload, context);
    }
    for (let index = 0; index < items.length; index += 1) {
      const result = definition.element._zod.run({ value: items[index], issues: [] }, context);
      if (result instanceof Promise) throw new z.core.$ZodAsyncError();
      if (result.issues.length > 0) payload.issues.push(...z.core.util.prefixIssues(index, result.issues));
      if (payload.issues.length >= maxIssues) break;
    }
    return payload;
  };
});

/**
 * A list that reports only its first `maxIssues` issues: collecting one for each of a million wrong items would take
 * minutes and gigabytes. It only validates, so its element must not transform values.
 */
export function list<Element extends z.core.SomeType>(element: Element): z.ZodArray<Element> {
  return new StoppingList({
    type: "array",
    element: element as unknown as z.core.$ZodType,
  }) as unknown as z.ZodArray<Element>;
}

/**
 * An object of at most `maxEntries` values with any names except `__proto__`, which zod's record skips. One with more is refused
 * with `message` before any entry is checked.
 */
export function smallRecord<Key extends z.core.$ZodRecordKey, Value extends z.core.SomeType>(
  keyType: Key,
  valueType: Value,
  { maxEntries, message }: { maxEntries: number; message: string },
): z.ZodRecord<Key, Value> {
  const record = z.record(keyType, valueType);
  const checked = z.preprocess((entries, { issues }) => {
    if (typeof entries !== "object" || entries === null) return entries;
    if (Object.keys(entries).length > maxEntries) issues.push({ code: "custom", message, input: entries });
    else if (Object.hasOwn(entries, "__proto__"))
      issues.push({
        code: "custom",
        message: "Nothing can be named __proto__",
        path: ["__proto__"],
        input: entries,
      });
    return entries;
  }, record);
  return checked as unknown as typeof record;
}
