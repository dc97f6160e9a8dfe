import { type WorldModelPrediction, WorldModelRequest } from "@presage/contract";
import { UpstreamError } from "../../errors.ts";
import { CommandError } from "../command-error.ts";
import { describeFaults, InvalidLineError, parseLine } from "../files/input-line.ts";
import type { OutputLine } from "../files/output-line.ts";
import type { NumberedLine } from "../files/read-lines.ts";
import type { Predict } from "./predict-command.ts";

/** A prediction of one line of a file. It carries the input's own fields but the bulky ones. */
export interface PredictionLine extends OutputLine {
  prediction?: WorldModelPrediction;
  exact_match?: boolean;
}

/** Predicts one line of a file. A failure is a result like any other. */
export async function predictLine(
  predict: Predict,
  { number, text }: NumberedLine,
  digest: string,
  keepsContext: boolean,
): Promise<PredictionLine> {
  const head = { line: number, digest };
  try {
    const { context, params, ...rest } = parseLine(text);
    const kept = keepsContext && context !== undefined ? { context } : {};
    const request = WorldModelRequest.safeParse({ context, interaction: rest.interaction, params });
    if (!request.success) throw new InvalidLineError(describeFaults(request.error.issues));
    const prediction = await predict(request.data);
    return { ...rest, ...kept, ...head, prediction, ...compare(rest.next_state, prediction) };
  } catch (error) {
    // What is wrong with the command is wrong for every line.
    if (error instanceof CommandError) throw error;
    return { ...head, error: describeError(error) };
  }
}

function compare(nextState: unknown, prediction: WorldModelPrediction): { exact_match?: boolean } {
  if (typeof nextState !== "string") return {};
  return { exact_match: prediction.response.content.trim() === nextState.trim() };
}

function describeError(error: unknown): { category: string; detail: string } {
  if (error instanceof UpstreamError) return { category: error.category, detail: error.message };
  if (error instanceof InvalidLineError) return { category: "invalid", detail: error.message };
  return { category: "unexpected", detail: error instanceof Error ? error.message : String(error) };
}
