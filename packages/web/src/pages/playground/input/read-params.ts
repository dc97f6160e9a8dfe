import type { Params } from "@presage/sdk";
import { type JsonObject, parseJsonObject } from "../../../ui/form/parse-json.ts";
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

type Further = { params: JsonObject; issue?: never } | { params?: never; issue: string };

const ownFields: readonly string[] = paramFields;

/** Parameters without a field of their own: one JSON object, or nothing. */
function readFurtherParams(text: string): Further {
  if (text.trim() === "") return { params: {} };
  const parsed = parseJsonObject(text);
  if ("issue" in parsed) return parsed;
  const params = parsed.value;
  const duplicate = Object.keys(params).find((name) => name !== "further" && ownFields.includes(name));
  if (duplicate !== undefined) return { issue: `Set ${duplicate} in its own field above.` };
  return hasUnsafeInteger(params)
    ? { issue: "An integer is too large for the browser to send unchanged." }
    : { params };
}

function hasUnsafeInteger(value: unknown): boolean {
  if (typeof value === "number") return Number.isInteger(value) && !Number.isSafeInteger(value);
  return typeof value === "object" && value !== null && Object.values(value).some(hasUnsafeInteger);
}
