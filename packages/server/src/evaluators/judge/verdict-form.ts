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
  /** The rule that a value breaks whose parts contradict each other. */
  contradictionIn?(value: Value): string | undefined;
}

export type Reading<Value> = { kind: "verdict"; value: Value } | Complaint;

/** Reads the first candidate that has the form. Only that one counts, even if its values are not allowed. */
export function readVerdict<Value>(form: VerdictForm<Value>, candidates: Iterable<unknown>): Reading<Value> {
  for (const candidate of candidates) {
    if (typeof candidate !== "object" || candidate === null) continue;
    if (!("reasoning" in candidate) || !(form.decidingKey in candidate)) continue;
    const parsed = form.schema.safeParse(candidate);
    if (!parsed.success) return { kind: "not_allowed" };
    const rule = form.contradictionIn?.(parsed.data);
    return rule === undefined ? { kind: "verdict", value: parsed.data } : { kind: "contradictory", rule };
  }
  return { kind: "unreadable" };
}
