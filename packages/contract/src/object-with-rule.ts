import { z } from "zod";

/** What an object's fields must satisfy together, and the issue if they do not. */
export interface Rule {
  isKept(fields: object): boolean;
  path: string[];
  message: string;
  /** The same in JSON Schema, for the OpenAPI document. */
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
      // Without other issues, the check below does it.
      if (issues.length === 0 || typeof value !== "object" || value === null || isKept(value)) return payload;
      // A copy: zod puts the place of the object in front of it.
      issues.push({ code: "custom", path: [...path], message, input: value, inst: schema });
      return payload;
    };
    schema._zod.parse = (payload, context) => {
      const parsed = parse(payload, context);
      return parsed instanceof Promise ? parsed.then(addIssue) : addIssue(parsed);
    };
  },
);

/** An object whose fields must satisfy a rule. A check with a condition of zod's would do, but no schema that has one can be compiled. */
export function objectWithRule<Shape extends z.core.$ZodLooseShape>(
  shape: Shape,
  rule: Rule,
): z.ZodObject<Shape> {
  const object = new RuledObject({ type: "object", shape, rule }) as unknown as z.ZodObject<Shape>;
  return object
    .refine((fields) => rule.isKept(fields), { path: rule.path, error: rule.message })
    .meta({ ...rule.jsonSchema });
}
