import type { DatasetSample } from "@presage/contract";

/** What examples are found by, as written. An empty text is an absent field. */
export interface Fields {
  action: string;
  state: string;
  task: string;
}

interface Turns {
  messages?: readonly { role: string; content: string }[] | undefined;
}

/** A sample's fields. `state`, if given, is what was predicted in place of the recorded one. */
export function fieldsOf(
  { context, interaction, messages = [] }: Pick<DatasetSample, "context" | "interaction"> & Turns,
  state?: string,
): Fields {
  if (interaction) {
    const task = context?.task_context ?? "";
    return { action: interaction.action, state: state ?? interaction.state, task };
  }
  const last = messages.findLastIndex(({ role }) => role === "user");
  const first = messages.findIndex(({ role }) => role === "user");
  const answer = messages.findLast(({ role }, index) => role === "assistant" && index < last);
  const task = first < last ? messages[first] : messages.find(({ role }) => role === "system");
  return {
    action: messages[last]?.content ?? "",
    state: state ?? answer?.content ?? "",
    task: task?.content ?? "",
  };
}
