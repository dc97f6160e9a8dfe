import { composePrompt } from "@presage/contract/compose-prompt";
import type { StoredPredictionDetail } from "@presage/sdk";
import { PlainText } from "../ui/untrusted-text/plain-text.tsx";

interface PromptTurn {
  role: string;
  /** The text, or JSON for content that is not text. */
  content: string;
  isText: boolean;
}

const roleLabels: Record<string, string> = {
  system: "System turn",
  user: "User turn",
  assistant: "Assistant turn",
};

/** The prompt that the model was sent: the composed turns of an interaction, or the messages of a chat. */
export function promptOf({ context, interaction, messages }: StoredPredictionDetail): PromptTurn[] {
  if (interaction !== null)
    return composePrompt(context ?? undefined, interaction).map((turn) => ({ ...turn, isText: true }));
  return (messages ?? []).map(({ role, content, ...rest }) => {
    const isText = typeof content === "string" && Object.keys(rest).length === 0;
    return {
      role: typeof role === "string" ? role : "unknown",
      content: isText ? content : JSON.stringify({ content, ...rest }),
      isText,
    };
  });
}

/** The turns of a prompt, one below another. */
export function PromptTurns({ turns }: { turns: readonly Pick<PromptTurn, "role" | "content">[] }) {
  return turns.map(({ role, content }, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the turns of one prompt never change
    <PlainText key={index} text={content} label={roleLabels[role] ?? role} />
  ));
}
