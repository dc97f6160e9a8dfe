import { z } from "zod";

interface SmallRecordDefinition extends z.core.$ZodRecordDef {
  maxEntries: number;
  message: string;
}

/** zod's record, but one with too many entries is refused before any entry is checked. */
const SmallRecord = z.core.$constructor<z.ZodRecord, SmallRecordDefinition>(
  "SmallRecord",
  (schema, definition) => {
    z.ZodRecord.init(schema, definition);
    const { parse } = schema._zod;
    schema._zod.parse = (payload, context) => {
      const entries: unknown = payload.value;
      if (typeof entries !== "object" || entries === null || Array.isArray(entries))
        return parse(payload, context);
      if (Object.keys(entries).length <= definition.maxEntries) return parse(payload, context);
      payload.issues.push({ code: "custom", message: definition.message, input: entries, inst: schema });
      return payload;
    };
  },
);

/** An object of at most `maxEntries` values with any names. One with more is refused with `message`. */
export function smallRecord<Key extends z.core.$ZodRecordKey, Value extends z.core.SomeType>(
  keyType: Key,
  valueType: Value,
  { maxEntries, message }: { maxEntries: number; message: string },
): z.ZodRecord<Key, Value> {
  const record = new SmallRecord({
    type: "record",
    keyType,
    valueType: valueType as unknown as z.core.$ZodType,
    maxEntries,
    message,
  }) as unknown as z.ZodRecord<Key, Value>;
  // For compiled schemas, which run checks but not the function above.
  return record.check(({ value, issues }) => {
    if (Object.keys(value).length > maxEntries) issues.push({ code: "custom", message, input: value });
  });
}
