import type { Context, Interaction, PromptMessage } from "./prediction.ts";

// Pages bundle this file too, so that it imports types only.
// World models are trained on these very strings: a change here is a change of the product.
const sections = [
  ["environment_state", "ENVIRONMENT STATE"],
  ["task_context", "TASK CONTEXT"],
  ["tool_schemas", "TOOL SCHEMAS"],
  ["domain_knowledge", "DOMAIN KNOWLEDGE"],
  ["steering_directives", "STEERING DIRECTIVES"],
] as const;

/** The system turn (none if every section is empty) and the user turn. All texts go in unchanged. */
export function composePrompt(
  context: Context | null | undefined,
  interaction: Interaction,
): PromptMessage[] {
  const user: PromptMessage = {
    role: "user",
    content: `State: ${interaction.state}\n\nAction: ${interaction.action}`,
  };
  const system = composeSystemTurn(context);
  return system === "" ? [user] : [{ role: "system", content: system }, user];
}

function composeSystemTurn(context: Context | null | undefined): string {
  if (!context) return "";
  const parts: string[] = [];
  for (const [field, name] of sections) {
    const text = context[field];
    if (text && /\S/.test(text)) parts.push(`## ${name}\n${text}`);
  }
  return parts.join("\n\n");
}
