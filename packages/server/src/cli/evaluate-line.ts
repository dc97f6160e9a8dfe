import { createHash } from "node:crypto";
import { Context, type EvaluateItem, EvaluateRequest } from "@presage/contract";
import { composePrompt } from "@presage/contract/compose-prompt";
import { z } from "zod";
import type { Sample } from "../evaluators/outcome.ts";
import { clusterOf, readResultMetadata } from "../results/result.ts";
import { CommandError } from "./command-error.ts";
import type { OutputLine } from "./output-lines.ts";
import { checkLine, InvalidLineError, type NumberedLine, parseLine } from "./read-lines.ts";

/** The metadata of results, under its API names. */
export type MetadataFields = z.input<typeof metadataFields>;

/** The sample of one line, to be evaluated by this process or by another Presage. */
export interface LineSample {
  sample: Sample;
  metadata: MetadataFields;
  /** The same each time that a run sends this line. */
  idempotencyKey: string;
}

/** What is reported about one evaluation. */
export type Outcome = Pick<EvaluateItem, "evaluator_id" | "profile_name" | "status" | "error_message"> & {
  id: string | null;
  pass: boolean | null;
  score_raw: number | null;
  explanation: string | null;
};

export type EvaluateSample = (lineSample: LineSample) => Promise<Outcome[]>;

/** The evaluations of one line of a file. */
export interface EvaluationLine extends OutputLine {
  evaluation_run_id: string;
  /** As given on the command line. */
  evaluators: readonly string[];
  /** As in the input line. */
  trajectory_id?: string | number;
  step?: string | number;
  dataset_sample_id?: string | number;
  /** The cluster of the results in the summary, the same as where they are stored. */
  cluster_id?: number | null;
  results?: Outcome[];
}

export interface EvaluateLineOptions {
  runId: string;
  evaluators: readonly string[];
  /** Metadata of all results; it takes precedence over a line's own. */
  metadata: MetadataFields;
}

const { shape } = EvaluateRequest;

/** What the command line and each line of a file can say about a result. */
export const metadataFields = z.object({
  app: shape.app,
  tags: shape.tags,
  dataset_id: shape.dataset_id,
  dataset_sample_id: shape.dataset_sample_id,
  evaluation_run_id: shape.evaluation_run_id,
  evaluated_model_id: shape.evaluated_model_id,
  evaluated_model_name: shape.evaluated_model_name,
  evaluated_model_provider: shape.evaluated_model_provider,
  evaluated_model_params: shape.evaluated_model_params,
  evaluated_model_selected_model: shape.evaluated_model_selected_model,
});

/** A line has the texts under their API names, or was written by `presage predict --file`. */
const inputLine = metadataFields.omit({ app: true, evaluation_run_id: true }).extend({
  evaluated_model_system_prompt: shape.evaluated_model_system_prompt,
  evaluated_model_retrieved_context: shape.evaluated_model_retrieved_context,
  evaluated_model_input: shape.evaluated_model_input,
  evaluated_model_output: shape.evaluated_model_output,
  evaluated_model_gold_answer: shape.evaluated_model_gold_answer,
  trajectory_id: z.union([z.string(), z.number()]).nullish(),
  step: z.union([z.string(), z.number()]).nullish(),
  context: Context.nullish(),
  interaction: z.object({ state: z.string(), action: z.string() }).nullish(),
  next_state: z.string().nullish(),
  prediction: z.object({ response: z.object({ content: z.string() }) }).nullish(),
});

type InputLine = z.output<typeof inputLine>;

/** Evaluates one line of a file. A failure is a line like any other, except an error of the command itself. */
export async function evaluateLine(
  evaluate: EvaluateSample,
  { runId, evaluators, metadata }: EvaluateLineOptions,
  { number, text }: NumberedLine,
  digest: string,
): Promise<EvaluationLine> {
  const head = { line: number, digest, evaluation_run_id: runId, evaluators };
  try {
    const line = inputLine.parse(checkLine(inputLine, parseLine(text)));
    const sample = readSample(line);
    const idempotencyKey = createHash("sha256").update(`${runId} ${number} ${text}`).digest("hex");
    const place = readPlace(line);
    const ofLine = readMetadata(line, place, number, metadata);
    const { dataset_sample_id } = line;
    const named = dataset_sample_id === null || dataset_sample_id === undefined ? {} : { dataset_sample_id };
    return {
      ...head,
      ...place,
      ...named,
      cluster_id: clusterOf(readResultMetadata(ofLine)),
      results: await evaluate({ sample, metadata: ofLine, idempotencyKey }),
    };
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const category = error instanceof InvalidLineError ? "invalid" : "failed";
    return { ...head, error: { category, detail: error instanceof Error ? error.message : String(error) } };
  }
}

interface Place {
  trajectory_id?: string | number;
  step?: string | number;
}

/** The line's place in a trajectory, if it has one. */
function readPlace({ trajectory_id, step }: InputLine): Place {
  return {
    ...(isNamed(trajectory_id) && { trajectory_id }),
    ...(isNamed(step) && { step }),
  };
}

function isNamed(value: string | number | null | undefined): value is string | number {
  return value !== null && value !== undefined && value !== "";
}

/** The line's own metadata, with its place in a trajectory as tags, and the command's. */
function readMetadata(
  line: InputLine,
  place: Place,
  number: number,
  ofCommand: MetadataFields,
): MetadataFields {
  const placeTags = Object.fromEntries(Object.entries(place).map(([name, value]) => [name, String(value)]));
  const merged = {
    ...metadataFields.parse(line),
    dataset_sample_id: line.dataset_sample_id ?? number,
    ...ofCommand,
    tags: { ...placeTags, ...line.tags, ...ofCommand.tags },
  };
  return checkLine(metadataFields, merged);
}

function readSample(line: InputLine): Sample {
  const context = line.evaluated_model_retrieved_context;
  const turns = line.interaction ? composePrompt(line.context, line.interaction) : [];
  const contentOf = (role: string) => turns.find((turn) => turn.role === role)?.content;
  const systemPrompt = line.evaluated_model_system_prompt ?? contentOf("system");
  const input = line.evaluated_model_input ?? contentOf("user");
  const output = line.evaluated_model_output ?? line.prediction?.response.content;
  const goldAnswer = line.evaluated_model_gold_answer ?? line.next_state;
  if (input === undefined && output === undefined)
    throw new InvalidLineError("the line has no evaluated_model_output, no prediction and no input");
  return {
    ...(systemPrompt ? { systemPrompt } : {}),
    ...(context ? { retrievedContext: typeof context === "string" ? [context] : context } : {}),
    ...(input === undefined ? {} : { input }),
    ...(typeof output === "string" ? { output } : {}),
    ...(typeof goldAnswer === "string" ? { goldAnswer } : {}),
  };
}
