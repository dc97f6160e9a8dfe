import { Context, type EvaluateItem, EvaluateRequest } from "@presage/contract";
import { composePrompt } from "@presage/contract/compose-prompt";
import { familyOf } from "@presage/contract/describe-runs";
import { z } from "zod";
import { hasFailed, type Sample } from "../../evaluators/outcome.ts";
import { jackknifeError, momentsOfClusters, rateInterval } from "../../platform/statistics/intervals.ts";
import { printable, sha256Hex, threeDecimals } from "../../platform/words.ts";
import { clusterOf, readResultMetadata } from "../../results/result.ts";
import { CommandError } from "../command.ts";
import { checkLine, InvalidLineError, type OutputLine, parseLine } from "../files.ts";
import type { NumberedLine } from "../read-lines.ts";
import { atRight, type Column, textTable } from "../terminal.ts";

/** The metadata of results, under its API names. */
export type MetadataFields = z.input<typeof metadataFields>;

/** The sample of one line, to be evaluated by this process or by another Presage. */
interface LineSample {
  sample: Sample;
  metadata: MetadataFields;
  /** The same each time that a run sends this line. */
  idempotencyKey: string;
}

/** The reported part of one evaluation. */
type Outcome = Pick<EvaluateItem, "evaluator_id" | "profile_name" | "status" | "error_message"> & {
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
  /** The cluster of the results in the summary; stored results have the same one. */
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

/** A line that has the texts under their API names, or that `presage predict --file` wrote. */
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
    const idempotencyKey = sha256Hex(`${runId} ${number} ${text}`);
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

/** The metadata of a line, with its place in a trajectory as tags, merged with the command's. */
function readMetadata(line: InputLine, place: Place, number: number, ofCommand: MetadataFields) {
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

/** Counts of one evaluator with one profile over a file. */
export interface OutcomeCounts {
  name: string;
  passed: number;
  notPassed: number;
  failed: number;
  /** Number of verdicts with a score. */
  graded: number;
  scoreSum: number;
  /** Verdicts and passes by cluster: verdicts within a cluster are not independent of each other. */
  clusters: Map<number | null, { count: number; sum: number }>;
}

/** The evaluator, without the date of its version, and the profile of an outcome. */
export function outcomeName({
  evaluator_id,
  profile_name,
}: Pick<Outcome, "evaluator_id" | "profile_name">): string {
  return `${familyOf(evaluator_id)} ${profile_name}`;
}

/** Adds one evaluation, of a line in `cluster`, to the counts of its evaluator and profile. */
export function countOutcome(counts: Map<string, OutcomeCounts>, outcome: Outcome, cluster: number | null) {
  // Two versions of an evaluator are not counted together.
  const id = `${outcome.evaluator_id} ${outcome.profile_name}`;
  const name = outcomeName(outcome);
  const of: OutcomeCounts = counts.get(id) ?? {
    name,
    passed: 0,
    notPassed: 0,
    failed: 0,
    graded: 0,
    scoreSum: 0,
    clusters: new Map(),
  };
  counts.set(id, of);
  if (outcome.status !== "success") {
    if (hasFailed(outcome)) of.failed += 1;
    return;
  }
  const passed = outcome.pass === true ? 1 : 0;
  of.passed += passed;
  of.notPassed += 1 - passed;
  of.graded += outcome.score_raw === null ? 0 : 1;
  of.scoreSum += outcome.score_raw ?? 0;
  const inCluster = of.clusters.get(cluster) ?? { count: 0, sum: 0 };
  of.clusters.set(cluster, {
    count: inCluster.count + 1,
    sum: inCluster.sum + passed,
  });
}

/** The share of verdicts that are passes; undefined if all evaluations failed. */
export function passRate(counts: OutcomeCounts): number | undefined {
  const verdicts = verdictsOf(counts);
  return verdicts === 0 ? undefined : counts.passed / verdicts;
}

export function verdictsOf({ passed, notPassed }: OutcomeCounts): number {
  return passed + notPassed;
}

/** A table for people with one row per evaluator, at most `width` wide. */
export function outcomeTable(counts: Iterable<OutcomeCounts>, width: number): string {
  return textTable(outcomeColumns, [...counts], width).text;
}

const outcomeColumns: readonly Column<OutcomeCounts>[] = [
  { heading: "evaluator and profile", text: ({ name }) => printable(name), canWrap: true },
  atRight("passed", (of) => `${of.passed}/${verdictsOf(of)}`),
  atRight("pass rate", (of) => percent(passRate(of))),
  atRight("95 % interval", describeInterval),
  atRight("score", describeScore),
  atRight("failed", ({ failed }) => String(failed)),
];

function describeInterval({ clusters }: OutcomeCounts): string {
  const sums = [...clusters.values()];
  const interval = rateInterval(momentsOfClusters(sums), jackknifeError(sums));
  return interval === null
    ? "–"
    : `${(100 * interval.lower).toFixed(1)} – ${(100 * interval.upper).toFixed(1)} %`;
}

function describeScore({ graded, scoreSum }: OutcomeCounts): string {
  return graded === 0 ? "–" : threeDecimals(scoreSum / graded);
}

export function percent(share: number | undefined): string {
  return share === undefined ? "–" : `${(100 * share).toFixed(1)} %`;
}
