import type { EnvironmentConfig, PromptMessage } from "@presage/contract";
import { composePrompt } from "@presage/contract/compose-prompt";
import { environmentDefaults, type Task } from "../environment.ts";

export interface Turn {
  action: string;
  observation: string;
}

export type EpisodeMessage = PromptMessage | { role: "assistant"; content: string };

/** What a step asks the deployment, after these turns: all of them in a chat, otherwise at least the last one. */
export function composeMessages(
  config: EnvironmentConfig,
  task: Task,
  turns: readonly Turn[],
  action: string,
): EpisodeMessage[] {
  const context = { ...config.context, ...task.context };
  if (promptFormOf(config) === "state-action")
    return composePrompt(context, { state: turns.at(-1)?.observation ?? task.initial_state, action });
  const [first, ...others] = [...turns.map((turn) => turn.action), action];
  const messages: EpisodeMessage[] = composePrompt(context, {
    state: task.initial_state,
    action: first ?? action,
  });
  for (const [index, next] of others.entries()) {
    messages.push({ role: "assistant", content: turns[index]?.observation ?? "" });
    messages.push({ role: "user", content: `Action: ${next}` });
  }
  return messages;
}

export function promptFormOf({ prompt_form: form }: EnvironmentConfig) {
  return form ?? environmentDefaults.promptForm;
}
