import type { z } from "zod";
import type { Complaint } from "./prompts.ts";

/** The form of a model's verdict: an object with its `reasoning` first and then the key that decides. */
export interface VerdictForm<Value> {
  /** Names the form to the model. */
  name: string;
  /** Sent to servers that can enforce it. */
  jsonSchema: Record<string, unknown>;
  decidingKey: string;
  /** The values that a verdict may have. */
  schema: z.ZodType<Value>;
  /** What is wrong with a value whose parts contradict each other. */
  contradictionOf?(value: Value): Complaint | undefined;
}

export type Reading<Value> = { kind: "verdict"; value: Value } | Complaint;

/** Reads the first candidate that has the form. Only that one counts, even if its values are not allowed. */
export function readVerdict<Value>(form: VerdictForm<Value>, candidates: Iterable<unknown>): Reading<Value> {
  for (const candidate of candidates) {
    if (typeof candidate !== "object" || candidate === null) continue;
    if (!("reasoning" in candidate) || !(form.decidingKey in candidate)) continue;
    const parsed = form.schema.safeParse(candidate);
    if (!parsed.success) return { kind: "not_allowed" };
    return form.contradictionOf?.(parsed.data) ?? { kind: "verdict", value: parsed.data };
  }
  return { kind: "unreadable" };
}
