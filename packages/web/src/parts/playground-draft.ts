import type { Context, Params, StoredPredictionDetail, WorldModelRequest } from "@presage/sdk";
import { useState } from "react";
import { signedInUserId } from "../session.ts";
import { type JsonObject, parseJsonObject } from "../ui/form/form.tsx";

export type ContextField = keyof Context;

/** The sections of the system turn, in order. */
export const contextSections: readonly { field: ContextField; label: string; hint: string }[] = [
  {
    field: "environment_state",
    label: "Environment state",
    hint: "Layout and contents of the environment: rooms, pages, records, and what is in them.",
  },
  { field: "task_context", label: "Task context", hint: "What the agent is trying to do." },
  {
    field: "tool_schemas",
    label: "Tool schemas",
    hint: "The tools that actions may call, with their arguments.",
  },
  {
    field: "domain_knowledge",
    label: "Domain knowledge",
    hint: "Rules that the environment follows, for example what a locked door does.",
  },
  {
    field: "steering_directives",
    label: "Steering directives",
    hint: "How the response should be written: format, length, language.",
  },
];

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

/** Parses a stored draft; missing or corrupt fields become empty. */
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

/** Issues by their path in the request, for example `interaction.state` or `params.top_p`. */
export type Issues = Readonly<Record<string, string>>;

interface ReadDraft {
  /** The request, without invalid parameters. */
  request: WorldModelRequest;
  issues: Issues;
}

/** Reads a draft; empty sections and parameters are left out of the request. */
export function readDraft({ context, state, action, params }: Draft): ReadDraft {
  const sections = contextSections.map(({ field }) => [field, context[field]] as const);
  const written = Object.fromEntries(sections.filter(([, text]) => text !== ""));
  const { params: set, issues } = readParams(params);
  return {
    request: {
      ...(Object.keys(written).length > 0 && { context: written }),
      interaction: { state, action },
      ...(Object.keys(set).length > 0 && { params: set }),
    },
    issues: {
      ...(state === "" && { "interaction.state": "Describe the state of the environment." }),
      ...(action === "" && { "interaction.action": "Describe what the agent does." }),
      ...issues,
    },
  };
}

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

function readParams(texts: Draft["params"]): { params: Params; issues: Record<string, string> } {
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

/** Parameters without their own field: one JSON object, or nothing. */
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

/** The additional fields of a request through a world. */
const fieldsOfWorlds = ["world", "history", "exclude", "explain"];

/** A draft that repeats a request; undefined for chats and requests with earlier steps, which the playground has no fields for. */
export function toPlaygroundDraft({
  context,
  interaction,
  params,
}: Pick<StoredPredictionDetail, "context" | "interaction" | "params">): Draft | undefined {
  if (interaction === null || params?.history) return undefined;
  const sections = contextSections.map(({ field }) => [field, context?.[field] ?? ""]);
  const { known, further } = splitParams(params ?? {});
  return {
    ...emptyDraft,
    context: { ...emptyDraft.context, ...Object.fromEntries(sections) },
    state: interaction.state,
    action: interaction.action,
    params: {
      ...emptyDraft.params,
      ...known,
      further: Object.keys(further).length === 0 ? "" : JSON.stringify(further, undefined, 2),
    },
  };
}

function splitParams(params: Record<string, unknown>) {
  const entries = Object.entries(params).filter(
    ([name, value]) => value !== null && value !== undefined && !fieldsOfWorlds.includes(name),
  );
  const hasField = ([name, value]: [string, unknown]) =>
    name !== "further" && paramFields.some((field) => field === name) && typeof value !== "object";
  return {
    known: Object.fromEntries(entries.filter(hasField).map(([name, value]) => [name, String(value)])),
    further: Object.fromEntries(entries.filter((entry) => !hasField(entry))),
  };
}

function draftKey(): string {
  return `presage-playground-draft:${signedInUserId()}`;
}

/** Whether other pages can fill the playground without overwriting input. */
export function isPlaygroundEmpty(): boolean {
  return isEmptyDraft(parseDraft(sessionStorage.getItem(draftKey())));
}

/** Replaces the playground's input, before it is opened. */
export function fillPlayground(draft: Draft): void {
  try {
    sessionStorage.setItem(draftKey(), JSON.stringify(draft));
  } catch {
    // Too long for the tab's storage: the playground opens unchanged.
  }
}

/** The input, stored in this tab across reloads and sign-ins, separately for each user. Initially `first`. */
export function usePlaygroundDraft(first: Draft) {
  const storageKey = draftKey();
  const [written, setWritten] = useState(() => {
    const stored = sessionStorage.getItem(storageKey);
    return stored === null ? undefined : parseDraft(stored);
  });
  const draft = written ?? first;
  const [cleared, setCleared] = useState<Draft>();
  const [isStored, setStored] = useState(true);

  function replace(next: Draft) {
    setWritten(next);
    try {
      sessionStorage.setItem(storageKey, JSON.stringify(next));
      setStored(true);
    } catch {
      // Browsers store about 5 MB per tab.
      setStored(false);
    }
  }

  const isEmpty = isEmptyDraft(draft);
  return {
    draft,
    isEmpty,
    /** False if it is too long for the browser to store. */
    isStored,
    replace,
    change: (part: Partial<Draft>) => replace({ ...draft, ...part }),
    clear() {
      setCleared(draft);
      replace(emptyDraft);
    },
    /** Undefined if nothing was cleared, or if undoing would lose new input. */
    undoClear: cleared !== undefined && isEmpty ? () => replace(cleared) : undefined,
  };
}
