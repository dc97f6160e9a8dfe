import { z } from "zod";

/** Faults of one request that are looked for and told. Nobody reads more. */
export const maxFaults = 100;

/** zod's array, but it stops once it has `maxFaults` faults. */
const StoppingList = z.core.$constructor<z.ZodArray>("StoppingList", (schema, definition) => {
  z.ZodArray.init(schema, definition);
  const { parse } = schema._zod;
  const maxItems = Math.min(...z.core.util.sizeCaps(definition.checks).map(([maximum]) => maximum));
  schema._zod.parse = (payload, context) => {
    const items: unknown = payload.value;
    // Of short lists zod finds all faults soon enough, and one that is too long it refuses without a look at its items.
    if (!Array.isArray(items) || items.length <= maxFaults || items.length > maxItems) {
      return parse(payload, context);
    }
    for (let index = 0; index < items.length; index += 1) {
      const result = definition.element._zod.run({ value: items[index], issues: [] }, context);
      if (result instanceof Promise) throw new z.core.$ZodAsyncError();
      if (result.issues.length > 0) payload.issues.push(...z.core.util.prefixIssues(index, result.issues));
      if (payload.issues.length >= maxFaults) break;
    }
    return payload;
  };
});

/**
 * A list of which only the first `maxFaults` faults are looked for: to gather a fault for each of a million wrong items
 * takes minutes and gigabytes. It only checks, so that its element may not convert.
 */
export function list<Element extends z.core.SomeType>(element: Element): z.ZodArray<Element> {
  return new StoppingList({
    type: "array",
    element: element as unknown as z.core.$ZodType,
  }) as unknown as z.ZodArray<Element>;
}
