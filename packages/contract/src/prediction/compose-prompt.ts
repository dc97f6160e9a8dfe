import type { Context, Interaction, PromptMessage } from "./prediction.ts";

// The dashboard bundles this file too, so it imports types only.
// World models are trained on exactly these strings: do not change them lightly.
const sections = [
  ["environment_state", "ENVIRONMENT STATE"],
  ["task_context", "TASK CONTEXT"],
  ["tool_schemas", "TOOL SCHEMAS"],
  ["domain_knowledge", "DOMAIN KNOWLEDGE"],
  ["steering_directives", "STEERING DIRECTIVES"],
] as const;

/** The fields of a context, in the order of the prompt and of stored samples. */
export const contextFields = sections.map(([field]) => field);

/** Changed whenever the strings here change. Runs record it. */
export const promptVersion = "1";

/** The system turn (omitted if every section is empty) and the user turn. All texts are used unchanged. */
export function composePrompt(
  context: Context | null | undefined,
  interaction: Interaction,
): PromptMessage[] {
  const user: PromptMessage = { role: "user", content: composeUserTurn(interaction) };
  const system = composeSystemTurn(context);
  return system === "" ? [user] : [{ role: "system", content: system }, user];
}

/** The user turn. Later turns of a chat have no state, because the preceding assistant turn is the state. */
export function composeUserTurn({ state, action }: { state?: string | undefined; action: string }): string {
  return state === undefined ? `Action: ${action}` : `State: ${state}\n\nAction: ${action}`;
}

/** The state and action that a user turn was composed of; undefined if it has another form. */
export function readUserTurn(content: string): { state?: string | undefined; action: string } | undefined {
  const [, state, action] = /^(?:State: ([\s\S]*)\n\n)?Action: ([\s\S]*)$/.exec(content) ?? [];
  return action === undefined ? undefined : { state, action };
}

/** Empty if every section is. All texts are used unchanged. */
export function composeSystemTurn(context: Context | null | undefined): string {
  if (!context) return "";
  const parts: string[] = [];
  for (const [field, name] of sections) {
    const text = context[field];
    if (text && /\S/.test(text)) parts.push(`## ${name}\n${text}`);
  }
  return parts.join("\n\n");
}
