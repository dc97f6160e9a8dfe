import { z } from "zod";

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
