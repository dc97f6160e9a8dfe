import type { DatasetFormat, DatasetLine } from "@presage/contract";
import { readChatTrajectory } from "./chat-trajectories.ts";
import { readLlmSimTransition } from "./llm-sim.ts";
import { readOwnLine } from "./own-lines.ts";
import { predictionFields, readPrediction } from "./predictions.ts";
import { LineError } from "./upload/line-error.ts";

export interface ReadSample extends DatasetLine {
  /** What was predicted elsewhere for the sample. A revision does not keep it. */
  prediction?: string;
}

/** Makes samples of a line's JSON. Throws a `LineError` if it cannot. */
export type Reader = (value: unknown, line: number) => Iterable<ReadSample>;

export const readers: Record<DatasetFormat, Reader> = {
  presage: readOwnLine,
  chat: readChatTrajectory,
  "llm-sim": readLlmSimTransition,
  predictions: readPrediction,
};

/** The format of a line, told by its fields. */
export function formatOf(value: unknown): DatasetFormat {
  if (typeof value !== "object" || value === null) throw new LineError("Input should be a JSON object");
  if ("tick_state" in value) return "llm-sim";
  if ("next_state" in value) return "presage";
  if ("messages" in value) return "chat";
  if (predictionFields.some((field) => field in value)) return "predictions";
  return "presage";
}
