import { z } from "zod";

type FindsOldName = (value: unknown) => boolean;

/** What there is to look for is the same in every request, and in most schemas it is nothing. */
const finders = new WeakMap<z.core.$ZodType, FindsOldName>();

/** Whether a value has anything but null under a name that its schema marks as deprecated, whatever else is wrong with it. */
export function usesOldNames(schema: z.core.$ZodType, value: unknown): boolean {
  let finds = finders.get(schema);
  if (finds === undefined) {
    finds = finderOf(schema) ?? (() => false);
    finders.set(schema, finds);
  }
  return finds(value);
}

function finderOf(schema: z.core.$ZodType): FindsOldName | undefined {
  if (z.globalRegistry.get(schema)?.deprecated) return isGiven;
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return finderOf(schema.unwrap());
  if (schema instanceof z.ZodArray) return inItems(finderOf(schema.element));
  if (schema instanceof z.ZodUnion) return inAny(schema.options.map(finderOf));
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries<z.core.$ZodType>(schema.shape);
    return inAny(fields.map(([name, field]) => inField(name, finderOf(field))));
  }
  return undefined;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function inItems(finds: FindsOldName | undefined): FindsOldName | undefined {
  return finds && ((value) => Array.isArray(value) && value.some(finds));
}

function inField(name: string, finds: FindsOldName | undefined): FindsOldName | undefined {
  return finds && ((value) => typeof value === "object" && value !== null && finds(Reflect.get(value, name)));
}

function inAny(all: readonly (FindsOldName | undefined)[]): FindsOldName | undefined {
  const some = all.filter((finds) => finds !== undefined);
  return some.length === 0 ? undefined : (value) => some.some((finds) => finds(value));
}
