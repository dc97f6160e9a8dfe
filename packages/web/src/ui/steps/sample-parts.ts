import type { DatasetSample } from "@presage/sdk";

type Asked = Pick<DatasetSample, "interaction" | "messages">;

/** The recorded state before the action; of a conversation, the last assistant turn. */
export function stateOf({ interaction, messages = [] }: Asked): string {
  if (interaction) return interaction.state;
  return messages.findLast(({ role }) => role === "assistant")?.content ?? "";
}

/** The action; of a conversation, the user's last turn. */
export function actionOf({ interaction, messages = [] }: Asked): string {
  if (interaction) return interaction.action;
  return messages.findLast(({ role }) => role === "user")?.content ?? "";
}
