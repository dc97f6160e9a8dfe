import { DatasetLine } from "@presage/contract";
import type { ReadSample } from "./reader.ts";
import { checkLine, LineError } from "./upload/line-error.ts";

/** Presage's own lines, one sample each. */
export function* readOwnLine(value: unknown): Generator<ReadSample, void> {
  const line = checkLine(DatasetLine, value);
  const { interaction, messages, context } = line;
  if (!interaction && !messages) throw new LineError("Field required; or give messages", ["interaction"]);
  if (messages) {
    if (interaction) throw new LineError("Give either interaction or messages", ["messages"]);
    if (context) throw new LineError("Give context beside interaction, not beside messages", ["context"]);
    if (messages.length > 0 && messages.at(-1)?.role !== "user")
      throw new LineError("The last message must be the user's", ["messages"]);
  }
  yield line;
}
