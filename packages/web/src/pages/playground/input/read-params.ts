import type { Params } from "@presage/sdk";
import type { Draft } from "./draft.ts";
import { readFurtherParams } from "./read-further-params.ts";

interface Bounds {
  isValid(value: number): boolean;
  fault: string;
}

const numbers = {
  max_tokens: {
    isValid: (value) => Number.isSafeInteger(value) && value > 0,
    fault: "A whole number from 1 on.",
  },
  temperature: { isValid: (value) => value >= 0, fault: "A number from 0 on." },
  top_p: {
    isValid: (value) => value > 0 && value <= 1,
    fault: "A number above 0 and up to 1.",
  },
  top_k: {
    isValid: (value) => Number.isSafeInteger(value) && value >= 0,
    fault: "A whole number from 0 on; 0 is off.",
  },
} satisfies Record<string, Bounds>;

const budgets = ["low", "medium", "high"] as const;

/** The parameters that were set, and what is wrong with the others. */
export function readParams(texts: Draft["params"]): { params: Params; faults: Record<string, string> } {
  const params: Params = {};
  const faults: Record<string, string> = {};
  for (const field of Object.keys(numbers) as (keyof typeof numbers)[]) {
    const text = texts[field].trim();
    if (text === "") continue;
    const value = Number(text);
    if (Number.isFinite(value) && numbers[field].isValid(value)) params[field] = value;
    else faults[`params.${field}`] = numbers[field].fault;
  }
  if (texts.enable_thinking !== "") params.enable_thinking = texts.enable_thinking === "true";
  const budget = budgets.find((known) => known === texts.reasoning_budget);
  if (budget !== undefined) params.reasoning_budget = budget;

  const further = readFurtherParams(texts.further);
  if (further.fault !== undefined) return { params, faults: { ...faults, "params.further": further.fault } };
  return { params: { ...further.params, ...params }, faults };
}
