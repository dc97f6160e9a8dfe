import type { DatasetFormat, DatasetLine } from "@presage/contract";
import { readChatTrajectory } from "./chat-trajectories.ts";
import { LineError } from "./line-error.ts";
import { readLlmSimTransition } from "./llm-sim.ts";
import { readOwnLine } from "./own-lines.ts";

export type ReadSample = DatasetLine;

/** Makes samples of a line's JSON. Throws a `LineError` if it cannot. */
export type Reader = (value: unknown, line: number) => Iterable<ReadSample>;

export const readers: Record<DatasetFormat, Reader> = {
  presage: readOwnLine,
  chat: readChatTrajectory,
  "llm-sim": readLlmSimTransition,
};

/** The format of a line, told by its fields. */
export function formatOf(value: unknown): DatasetFormat {
  if (typeof value !== "object" || value === null) throw new LineError("Input should be a JSON object");
  if ("tick_state" in value) return "llm-sim";
  if ("messages" in value && !("next_state" in value)) return "chat";
  return "presage";
}
