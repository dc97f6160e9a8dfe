import type { DatasetSample } from "@presage/contract";
import { composePrompt, composeSystemTurn, composeUserTurn } from "@presage/contract/compose-prompt";
import type { Sample } from "../../evaluators/outcome.ts";
import { toStorableText } from "../../platform/storage/columns.ts";

export interface PromptTurn {
  role: "system" | "user" | "assistant";
  content: string;
}

/** The recorded state before the action; of a conversation, the last assistant turn before the user's last one. */
export function stateOf({ interaction, messages = [] }: DatasetSample): string {
  if (interaction) return interaction.state;
  return messages.findLast(({ role }) => role === "assistant")?.content ?? "";
}

/** The action; of a conversation, the user's last turn. */
export function actionOf({ interaction, messages = [] }: DatasetSample): string {
  if (interaction) return interaction.action;
  return messages.findLast(({ role }) => role === "user")?.content ?? "";
}

/**
 * What the model is asked. `predicted` are its answers to the trajectory's earlier steps: they take the place of the recorded state,
 * and in a conversation of the recorded assistant turns.
 */
export function promptOf(sample: DatasetSample, predicted: readonly string[] = []): PromptTurn[] {
  const { context, interaction, messages = [] } = sample;
  if (interaction) {
    const state = predicted.at(-1) ?? interaction.state;
    return composePrompt(context, { state, action: interaction.action });
  }
  const turns = messages.map((message) => ({ ...message }));
  const answers = turns.filter(({ role }) => role === "assistant");
  // The last answer is the step's before this one.
  for (let back = 1; back <= Math.min(answers.length, predicted.length); back += 1) {
    const turn = answers.at(-back);
    if (turn !== undefined) turn.content = predicted.at(-back) ?? turn.content;
  }
  return turns;
}

/**
 * What evaluators see of a prediction: the recorded state and action, the prediction and the recorded next state. All as they can be
 * stored, as predictions are: what was predicted right is equal.
 */
export function toEvaluated(sample: DatasetSample, output: string): Sample {
  const systemPrompt = systemPromptOf(sample);
  return {
    systemPrompt: systemPrompt === undefined ? undefined : toStorableText(systemPrompt),
    input: toStorableText(composeUserTurn({ state: stateOf(sample), action: actionOf(sample) })),
    output: toStorableText(output),
    goldAnswer: toStorableText(sample.next_state),
  };
}

function systemPromptOf({ context, interaction, messages = [] }: DatasetSample): string | undefined {
  if (interaction) return composeSystemTurn(context) || undefined;
  const [first] = messages;
  return first?.role === "system" ? first.content : undefined;
}

/** What a step takes while it is in progress: its texts as objects, in what is sent, and in what is stored, in up to two bytes each. */
const bytesPerCharacter = 10;

export function memoryOf({ context, interaction, messages = [], next_state }: DatasetSample): number {
  const texts = [next_state, interaction?.state, interaction?.action, ...Object.values(context ?? {})];
  const characters = [...texts, ...messages.map(({ content }) => content)].reduce<number>(
    (sum, text) => sum + (typeof text === "string" ? text.length : 0),
    0,
  );
  return characters * bytesPerCharacter;
}
