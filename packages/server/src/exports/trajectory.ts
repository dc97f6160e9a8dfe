import type { DatasetSample } from "@presage/contract";
import { parseExactly } from "../datasets/traces/documents/exact-json.ts";
import { lastReActAction } from "../datasets/traces/turns.ts";

/** The samples of one trajectory, by step. */
export interface Trajectory {
  id: string;
  samples: readonly DatasetSample[];
}

/** A tool's call as an action names it. */
export interface ToolCall {
  /** Unique in its trajectory. */
  id: string;
  name: string;
  input: unknown;
}

/** Actions are texts. One of the form `{"input":…,"tool":NAME}` is a tool's call. */
export function callOf({ interaction }: DatasetSample, index: number): ToolCall | undefined {
  const { action } = interaction ?? {};
  if (action === undefined || !action.startsWith('{"input":')) return undefined;
  try {
    const { input, tool, ...others } = parseExactly(action) as Record<string, unknown>;
    if (typeof tool !== "string" || tool === "" || Object.keys(others).length > 0) return undefined;
    return { id: `call_${index + 1}`, name: tool, input };
  } catch {
    return undefined;
  }
}

const noAction = "(none)";

/** What the agent did, in a text that an import takes for an action. */
export function actionText({ interaction, messages }: DatasetSample): string {
  const text = interaction?.action ?? messages?.at(-1)?.content ?? "";
  return lastReActAction(text.trim()) === "" ? noAction : text;
}

/** What stands where a trajectory says nothing before its first action. */
const noState = "(start)";

/** What the environment said before the first action: the task, and the first state if it is another text. */
export function openingTexts({ samples }: Trajectory): string[] {
  const [first] = samples;
  const { task_context: task } = first?.context ?? {};
  const { state } = first?.interaction ?? {};
  const texts = [task, state === noState ? undefined : state].filter((text) => typeof text === "string");
  return [...new Set(texts)].filter((text) => text !== "");
}

/** The tools that a context lists as JSON. */
export function toolsOf({ samples }: Trajectory): unknown[] | undefined {
  const text = samples[0]?.context?.tool_schemas;
  if (typeof text !== "string") return undefined;
  try {
    const tools = parseExactly(text);
    return Array.isArray(tools) && tools.every((tool) => typeof tool === "object" && tool !== null)
      ? tools
      : undefined;
  } catch {
    return undefined;
  }
}
