import type { Params } from "@presage/sdk";
import { type Draft, paramFields } from "./draft.ts";

interface Bounds {
  isValid(value: number): boolean;
  issue: string;
}

const numbers = {
  max_tokens: {
    isValid: (value) => Number.isSafeInteger(value) && value > 0,
    issue: "Enter a whole number of at least 1.",
  },
  temperature: { isValid: (value) => value >= 0, issue: "Enter a number of at least 0." },
  top_p: {
    isValid: (value) => value > 0 && value <= 1,
    issue: "Enter a number above 0 and at most 1.",
  },
  top_k: {
    isValid: (value) => Number.isSafeInteger(value) && value >= 0,
    issue: "Enter a whole number of at least 0; 0 is off.",
  },
} satisfies Record<string, Bounds>;

const budgets = ["low", "medium", "high"] as const;

export function readParams(texts: Draft["params"]): { params: Params; issues: Record<string, string> } {
  const params: Params = {};
  const issues: Record<string, string> = {};
  for (const field of Object.keys(numbers) as (keyof typeof numbers)[]) {
    const text = texts[field].trim();
    if (text === "") continue;
    const value = Number(text);
    if (Number.isFinite(value) && numbers[field].isValid(value)) params[field] = value;
    else issues[`params.${field}`] = numbers[field].issue;
  }
  if (texts.enable_thinking !== "") params.enable_thinking = texts.enable_thinking === "true";
  const budget = budgets.find((known) => known === texts.reasoning_budget);
  if (budget !== undefined) params.reasoning_budget = budget;

  const further = readFurtherParams(texts.further);
  if (further.issue !== undefined) return { params, issues: { ...issues, "params.further": further.issue } };
  return { params: { ...further.params, ...params }, issues };
}

type Further = { params: Record<string, unknown>; issue?: never } | { params?: never; issue: string };

const ownFields: readonly string[] = paramFields;

/** Parameters without a field of their own: one JSON object, or nothing. */
function readFurtherParams(text: string): Further {
  if (text.trim() === "") return { params: {} };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { issue: `This is not JSON yet: ${error instanceof Error ? error.message : "it cannot be read"}` };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { issue: 'Enter an object, for example {"seed": 7}.' };
  }
  const params = value as Record<string, unknown>;
  const doubled = Object.keys(params).find((name) => name !== "further" && ownFields.includes(name));
  if (doubled !== undefined) return { issue: `Set ${doubled} in its own field above.` };
  if (holdsLongInteger(value)) {
    return { issue: "An integer is too large for the browser to send unchanged." };
  }
  return { params };
}

function holdsLongInteger(value: unknown): boolean {
  if (typeof value === "number") return Number.isInteger(value) && !Number.isSafeInteger(value);
  return typeof value === "object" && value !== null && Object.values(value).some(holdsLongInteger);
}
