import { type WorldModelPrediction, WorldModelRequest } from "@presage/contract";
import { PresageError } from "@presage/sdk";
import { UpstreamError } from "../platform/errors.ts";
import { CommandError } from "./command-error.ts";
import type { OutputLine } from "./output-lines.ts";
import { checkLine, InvalidLineError, type NumberedLine, parseLine } from "./read-lines.ts";

export type Predict = (request: WorldModelRequest) => Promise<WorldModelPrediction>;

/** The prediction for one line of a file, with the input's own fields except the bulky ones. */
export interface PredictionLine extends OutputLine {
  prediction?: WorldModelPrediction;
  exact_match?: boolean;
}

/** Predicts one line of a file. A failure is a line like any other, except an error of the command itself. */
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
    const request = checkLine(WorldModelRequest, {
      ...(context !== undefined && { context }),
      ...(params !== undefined && { params }),
      ...(rest.interaction !== undefined && { interaction: rest.interaction }),
    });
    const prediction = await predict(request);
    return { ...rest, ...kept, ...head, prediction, ...compare(rest.next_state, prediction) };
  } catch (error) {
    if (error instanceof CommandError) throw error;
    return { ...head, error: describeError(error) };
  }
}

function compare(nextState: unknown, prediction: WorldModelPrediction): { exact_match?: boolean } {
  if (typeof nextState !== "string") return {};
  return { exact_match: prediction.response.content.trim() === nextState.trim() };
}

function describeError(error: unknown): { category: string; detail: string } {
  if (error instanceof UpstreamError || error instanceof PresageError)
    return { category: error.category, detail: error.message };
  if (error instanceof InvalidLineError) return { category: "invalid", detail: error.message };
  return { category: "unexpected", detail: error instanceof Error ? error.message : String(error) };
}
