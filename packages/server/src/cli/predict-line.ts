import { type WorldModelPrediction, WorldModelRequest } from "@presage/contract";
import { UpstreamError } from "../errors.ts";
import { describeFaults, type Predict } from "./predict.ts";

/** What is written for one line of the input. It carries the input's own fields but the bulky ones. */
export interface OutputLine extends Record<string, unknown> {
  /** The input line's number, from 1. */
  line: number;
  /** Of the input line's text, by which a later run sees that the line is still the same. */
  digest: string;
  prediction?: WorldModelPrediction;
  exact_match?: boolean;
  error?: { category: string; detail: string };
}

export interface LineResult {
  line: OutputLine;
  /** False where an earlier run had already finished it. */
  isNew: boolean;
}

/** Predicts one line of a file. A failure is a result like any other. */
export async function predictLine(
  predict: Predict,
  number: number,
  text: string,
  finished: ReadonlyMap<string, OutputLine>,
): Promise<LineResult> {
  const digest = digestOf(text);
  const earlier = finished.get(lineId(number, digest));
  if (earlier !== undefined) return { line: earlier, isNew: false };
  const head = { line: number, digest };
  try {
    const { context, params, ...rest } = parseObject(text);
    const request = WorldModelRequest.safeParse({ context, interaction: rest.interaction, params });
    if (!request.success) throw new InvalidLineError(describeFaults(request.error.issues));
    const prediction = await predict(request.data);
    return { line: { ...rest, ...head, prediction, ...compare(rest.next_state, prediction) }, isNew: true };
  } catch (error) {
    return { line: { ...head, error: describeError(error) }, isNew: true };
  }
}

/** Tells a line from what it was in an earlier run; nothing depends on its secrecy. */
export function digestOf(text: string): string {
  return Bun.hash(text).toString(16);
}

export function lineId(number: number, digest: string): string {
  return `${number}:${digest}`;
}

class InvalidLineError extends Error {}

function parseObject(text: string): Record<string, unknown> {
  const value: unknown = parseJson(text);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw new InvalidLineError("the line is no JSON object");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidLineError("the line is no JSON");
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
