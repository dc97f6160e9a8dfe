import { createHash } from "node:crypto";
import { Context, type EvaluateItem } from "@presage/contract";
import { composePrompt } from "@presage/contract/compose-prompt";
import { z } from "zod";
import type { ResultMetadata } from "../evaluation/results/record/evaluation-record.ts";
import type { Sample } from "../evaluation/sample.ts";
import { CommandError } from "./command-error.ts";
import { describeFaults, InvalidLineError, parseLine } from "./input-line.ts";
import type { OutputLine } from "./output-line.ts";
import type { NumberedLine } from "./read-lines.ts";

/** A sample as the command line has it evaluated, by this process or by another Presage. */
export interface FileSample {
  sample: Sample;
  metadata: Pick<ResultMetadata, "datasetSampleId">;
  /** The same in every run over the same line. */
  idempotencyKey: string;
}

/** What is told of one evaluation. */
export type Outcome = Pick<EvaluateItem, "evaluator_id" | "profile_name" | "status" | "error_message"> & {
  id: string | null;
  pass: boolean | null;
  score_raw: number | null;
  explanation: string | null;
};

export type EvaluateSample = (fileSample: FileSample) => Promise<Outcome[]>;

/** The evaluations of one line of a file. */
export interface EvaluationLine extends OutputLine {
  evaluation_run_id: string;
  /** As the command was given them. */
  evaluators: readonly string[];
  results?: Outcome[];
}

const text = z.string().nullish();
/** A line has the texts under their names in the interface, or is one that `presage predict --file` wrote. */
const inputLine = z.object({
  evaluated_model_system_prompt: text,
  evaluated_model_retrieved_context: z.union([z.string(), z.array(z.string())]).nullish(),
  evaluated_model_input: text,
  evaluated_model_output: text,
  evaluated_model_gold_answer: text,
  dataset_sample_id: z.union([z.int(), z.string()]).nullish(),
  context: Context.nullish(),
  interaction: z.object({ state: z.string(), action: z.string() }).nullish(),
  next_state: text,
  prediction: z.object({ response: z.object({ content: z.string() }) }).nullish(),
});

/** Evaluates one line of a file. A failure is a result like any other. */
export async function evaluateLine(
  evaluate: EvaluateSample,
  { runId, evaluators }: { runId: string; evaluators: readonly string[] },
  { number, text }: NumberedLine,
  digest: string,
): Promise<EvaluationLine> {
  const head = { line: number, digest, evaluation_run_id: runId, evaluators };
  try {
    const line = inputLine.safeParse(parseLine(text));
    if (!line.success) throw new InvalidLineError(describeFaults(line.error.issues));
    const sample = readSample(line.data);
    const datasetSampleId = line.data.dataset_sample_id ?? number;
    const idempotencyKey = createHash("sha256").update(`${runId} ${number} ${text}`).digest("hex");
    return { ...head, results: await evaluate({ sample, metadata: { datasetSampleId }, idempotencyKey }) };
  } catch (error) {
    // What is wrong with the command is wrong for every line.
    if (error instanceof CommandError) throw error;
    const category = error instanceof InvalidLineError ? "invalid" : "failed";
    return { ...head, error: { category, detail: error instanceof Error ? error.message : String(error) } };
  }
}

function readSample(line: z.output<typeof inputLine>): Sample {
  const context = line.evaluated_model_retrieved_context;
  const turns = line.interaction ? composePrompt(line.context, line.interaction) : [];
  const contentOf = (role: string) => turns.find((turn) => turn.role === role)?.content;
  const systemPrompt = line.evaluated_model_system_prompt ?? contentOf("system");
  const input = line.evaluated_model_input ?? contentOf("user");
  const output = line.evaluated_model_output ?? line.prediction?.response.content;
  const goldAnswer = line.evaluated_model_gold_answer ?? line.next_state;
  if (input === undefined && output === undefined)
    throw new InvalidLineError("the line has neither evaluated_model_output nor a prediction nor an input");
  return {
    ...(systemPrompt ? { systemPrompt } : {}),
    ...(context ? { retrievedContext: typeof context === "string" ? [context] : context } : {}),
    ...(input === undefined ? {} : { input }),
    ...(typeof output === "string" ? { output } : {}),
    ...(typeof goldAnswer === "string" ? { goldAnswer } : {}),
  };
}
