import { z } from "zod";

/** What an object's fields must satisfy together, and the issue if they do not. */
export interface Rule {
  isKept(fields: object): boolean;
  path: string[];
  message: string;
  /** The rule in JSON Schema, for the OpenAPI document. */
  jsonSchema?: object;
}

interface RuledObjectDefinition extends z.core.$ZodObjectDef {
  rules: readonly Rule[];
}

/** zod's object, but its rules are checked even if fields have issues, so that the caller gets all issues at once. */
const RuledObject = z.core.$constructor<z.ZodObject, RuledObjectDefinition>(
  "RuledObject",
  (schema, definition) => {
    z.ZodObject.init(schema, definition);
    const { parse } = schema._zod;
    const addIssues = (payload: z.core.ParsePayload) => {
      const { value, issues } = payload;
      // If there are no other issues, the refinements in `objectWithRules` report these.
      if (issues.length === 0 || typeof value !== "object" || value === null) return payload;
      for (const { isKept, path, message } of definition.rules) {
        // A copy, because zod prepends the path of the object to it.
        if (!isKept(value))
          issues.push({ code: "custom", path: [...path], message, input: value, inst: schema });
      }
      return payload;
    };
    schema._zod.parse = (payload, context) => {
      const parsed = parse(payload, context);
      return parsed instanceof Promise ? parsed.then(addIssues) : addIssues(parsed);
    };
  },
);

/** An object whose fields must satisfy rules. A conditional check of zod's would do, but schemas with one cannot be compiled. */
export function objectWithRules<Shape extends z.core.$ZodLooseShape>(
  shape: Shape,
  ...rules: readonly Rule[]
): z.ZodObject<Shape> {
  const object = new RuledObject({ type: "object", shape, rules }) as unknown as z.ZodObject<Shape>;
  return rules.reduce(
    (ruled, { isKept, path, message, jsonSchema }) =>
      ruled.refine((fields) => isKept(fields), { path, error: message }).meta({ ...jsonSchema }),
    object,
  );
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

/** zod's record, with a rule for all entries that is checked before each of them. It sees `__proto__`, which zod's record skips. */
export function recordWithRule<Key extends z.core.$ZodRecordKey, Value extends z.core.SomeType>(
  keyType: Key,
  valueType: Value,
  findFault: (entries: object) => { message: string; path?: string[] } | undefined,
): z.ZodRecord<Key, Value> {
  const record = z.record(keyType, valueType);
  const checked = z.preprocess((entries, { issues }) => {
    if (typeof entries !== "object" || entries === null || Array.isArray(entries)) return entries;
    const fault = findFault(entries);
    if (fault !== undefined) issues.push({ code: "custom", ...fault, input: entries });
    return entries;
  }, record);
  return checked as unknown as typeof record;
}

/**
 * An object of values with any names except `__proto__`. One with more values than the limit is refused with its message before any
 * of them is checked.
 */
export function valuesByName<Key extends z.core.$ZodRecordKey, Value extends z.core.SomeType>(
  keyType: Key,
  valueType: Value,
  limit?: { maxEntries: number; message: string },
): z.ZodRecord<Key, Value> {
  return recordWithRule(keyType, valueType, (entries) => {
    if (limit && Object.keys(entries).length > limit.maxEntries) return { message: limit.message };
    if (!Object.hasOwn(entries, "__proto__")) return undefined;
    return { message: "Nothing can be named __proto__", path: ["__proto__"] };
  });
}
