import type { z } from "zod";

/** What a model must answer with: an object with its `reasoning` first and then the key that decides. */
export interface VerdictForm<Value> {
  /** Names the form to the model. */
  name: string;
  /** Told to servers that can hold a model to it. */
  jsonSchema: Record<string, unknown>;
  decidingKey: string;
  /** The menu: what an answer may say. */
  schema: z.ZodType<Value>;
}

export type Reading<Value> =
  | { kind: "verdict"; value: Value }
  /** An answer in the form, with something in it that is not on the menu. */
  | { kind: "off_menu" }
  | { kind: "unreadable" };

/** Reads the first candidate that has the form. Only that one counts, even if what it says is off the menu. */
export function readVerdict<Value>(form: VerdictForm<Value>, candidates: Iterable<unknown>): Reading<Value> {
  for (const candidate of candidates) {
    if (typeof candidate !== "object" || candidate === null) continue;
    if (!("reasoning" in candidate) || !(form.decidingKey in candidate)) continue;
    const parsed = form.schema.safeParse(candidate);
    return parsed.success ? { kind: "verdict", value: parsed.data } : { kind: "off_menu" };
  }
  return { kind: "unreadable" };
}
