import { maxConversationMessages } from "@presage/contract";
import { z } from "zod";
import type { ReadSample } from "./reader.ts";
import { checkLine, LineError } from "./upload/line-error.ts";

const id = z.union([z.string(), z.int()]).nullish();
const Conversation = z.looseObject({
  trajectory_id: id,
  id,
  item_id: id,
  messages: z
    .array(z.looseObject({ role: z.enum(["system", "user", "assistant"]), content: z.string() }))
    .max(maxConversationMessages),
});

/**
 * A conversation between an agent, who is the user, and the environment, who is the assistant: each assistant turn after a user turn
 * is a next state, and all turns before it are what the model is asked. Other fields are ignored.
 */
export function* readChatTrajectory(value: unknown, line: number): Generator<ReadSample, void> {
  const conversation = checkLine(Conversation, value);
  const messages = conversation.messages.map(({ role, content }) => ({ role, content }));
  const trajectoryId =
    conversation.trajectory_id ?? conversation.id ?? conversation.item_id ?? `line-${line}`;
  let step = 0;
  for (const [index, { role, content }] of messages.entries()) {
    if (role !== "assistant" || messages[index - 1]?.role !== "user") continue;
    yield {
      trajectory_id: String(trajectoryId),
      step,
      messages: messages.slice(0, index),
      next_state: content,
    };
    step += 1;
  }
  if (step === 0) throw new LineError("There is no assistant turn after a user turn", ["messages"]);
}
