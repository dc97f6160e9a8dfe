import { type ContextField, contextSections } from "./context-sections.ts";

export const paramFields = [
  "max_tokens",
  "temperature",
  "top_p",
  "top_k",
  "enable_thinking",
  "reasoning_budget",
  /** Any other parameters, as one JSON object. */
  "further",
] as const;
export type ParamField = (typeof paramFields)[number];

/** The playground's input as typed, so that unfinished numbers are kept too. */
export interface Draft {
  context: Record<ContextField, string>;
  state: string;
  action: string;
  params: Record<ParamField, string>;
  goldAnswer: string;
}

const contextFields = contextSections.map(({ field }) => field);

export const emptyDraft: Draft = {
  context: textsOf(contextFields, {}),
  state: "",
  action: "",
  params: textsOf(paramFields, {}),
  goldAnswer: "",
};

export function isEmptyDraft({ context, state, action, params, goldAnswer }: Draft): boolean {
  const texts = [...Object.values(context), state, action, ...Object.values(params), goldAnswer];
  return texts.every((text) => text === "");
}

/** Missing or corrupt fields are empty. */
export function parseDraft(stored: string | null): Draft {
  const { context, state, action, params, goldAnswer } = parseObject(stored);
  return {
    context: textsOf(contextFields, context),
    state: textOf(state),
    action: textOf(action),
    params: textsOf(paramFields, params),
    goldAnswer: textOf(goldAnswer),
  };
}

function parseObject(stored: string | null): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(stored ?? "{}");
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

function textsOf<Name extends string>(names: readonly Name[], holder: unknown): Record<Name, string> {
  const texts = isObject(holder) ? holder : {};
  return Object.fromEntries(names.map((name) => [name, textOf(texts[name])])) as Record<Name, string>;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
