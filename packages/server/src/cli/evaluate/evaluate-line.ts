import { createHash } from "node:crypto";
import { Context, type EvaluateItem } from "@presage/contract";
import { composePrompt } from "@presage/contract/compose-prompt";
import { z } from "zod";
import type { Sample } from "../../evaluation/sample.ts";
import { CommandError } from "../command-error.ts";
import type { OutputLine } from "../files/output-lines.ts";
import { describeIssues, InvalidLineError, type NumberedLine, parseLine } from "../files/read-lines.ts";

/** The sample of one line, to be evaluated by this process or by another Presage. */
export interface LineSample {
  sample: Sample;
  datasetSampleId: number | string;
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
  results?: Outcome[];
}

const text = z.string().nullish();
/** A line has the texts under their API names, or was written by `presage predict --file`. */
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

/** Evaluates one line of a file. A failure is a line like any other, except an error of the command itself. */
export async function evaluateLine(
  evaluate: EvaluateSample,
  { runId, evaluators }: { runId: string; evaluators: readonly string[] },
  { number, text }: NumberedLine,
  digest: string,
): Promise<EvaluationLine> {
  const head = { line: number, digest, evaluation_run_id: runId, evaluators };
  try {
    const line = inputLine.safeParse(parseLine(text));
    if (!line.success) throw new InvalidLineError(describeIssues(line.error.issues));
    const sample = readSample(line.data);
    const datasetSampleId = line.data.dataset_sample_id ?? number;
    const idempotencyKey = createHash("sha256").update(`${runId} ${number} ${text}`).digest("hex");
    return { ...head, results: await evaluate({ sample, datasetSampleId, idempotencyKey }) };
  } catch (error) {
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
    throw new InvalidLineError("the line has no evaluated_model_output, no prediction and no input");
  return {
    ...(systemPrompt ? { systemPrompt } : {}),
    ...(context ? { retrievedContext: typeof context === "string" ? [context] : context } : {}),
    ...(input === undefined ? {} : { input }),
    ...(typeof output === "string" ? { output } : {}),
    ...(typeof goldAnswer === "string" ? { goldAnswer } : {}),
  };
}
