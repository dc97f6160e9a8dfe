import {
  type World,
  type WorldModelPrediction,
  WorldModelRequest,
  type WorldPreview,
} from "@presage/contract";
import { PresageError } from "@presage/sdk";
import type { Command } from "commander";
import { composeDeployments, needsSandbox } from "../app/compose-deployments.ts";
import type { Config } from "../config/config.ts";
import { UpstreamError } from "../platform/errors.ts";
import { neverAborted } from "../platform/limits/deadline.ts";
import { createLog } from "../platform/observability/logger.ts";
import { countOf, printableLines } from "../platform/words.ts";
import { predict } from "../predictions/predict.ts";
import { CommandError, examples, printNotice, printSandboxNotice, settleRuntimeFor } from "./command.ts";
import { configure } from "./config.ts";
import { connectToServer } from "./connect.ts";
import {
  checkFiles,
  checkLine,
  checkOptions,
  collectFailureReasons,
  InvalidLineError,
  type OutputLine,
  type ProcessLinesOptions,
  type Progress,
  parseLine,
  processLines,
  readConcurrency,
  readOutput,
} from "./files.ts";
import { withRunConnection } from "./open-connection.ts";
import type { NumberedLine } from "./read-lines.ts";
import { withFile } from "./traces/import-files.ts";
import { describeExamples } from "./worlds/play.ts";
import { withoutOwn } from "./worlds/samples.ts";

export function addPredictCommand(program: Command): void {
  program
    .command("predict")
    .description("predict a next state, or one per line of a file")
    .option("--state <text>", "the state before the action")
    .option("--action <text>", "the agent's action")
    .option("--context <json>", "the five context fields, as JSON")
    .option("--params <json>", "sampling parameters, as JSON")
    .option(
      "--world <name[@revision]>",
      "the world that predicts; a line with trajectory_id does not get examples of its own trajectory",
    )
    .option("--explain", "with --world: which recorded examples the prediction used")
    .option(
      "--file <path>",
      "transitions as JSON lines with interaction and optionally context, params and next_state; - is standard input",
    )
    .option(
      "--out <path>",
      "file for the predictions, as JSON lines; a second run resumes where the last one stopped; by default standard output, which must not be a terminal",
    )
    .option("--json", "with --file: write JSON lines to standard output, even to a terminal")
    .option("--keep-context", "include each line's context, which judges need")
    .option("--concurrency <number>", "maximum concurrent predictions", "32")
    .option(
      "--server <url>",
      "call this Presage server, with the API key in PRESAGE_API_KEY, instead of the configured upstream; only what a server predicts is counted as usage",
    )
    .addHelpText(
      ...examples(
        'presage predict --state "The fridge is closed." --action "open fridge"',
        'presage predict --world shop@3 --explain --state "A cart." --action "add cup"',
        "presage predict --file transitions.jsonl --out predictions.jsonl",
        "presage predict --file transitions.jsonl | jq .prediction.response.content",
        "PRESAGE_API_KEY=psg_... presage predict --file transitions.jsonl \\",
        "  --out predictions.jsonl --server http://127.0.0.1:8080",
      ),
    )
    .action(async (options) => {
      settleRuntimeFor(options.concurrency);
      await withFile<PredictOptions>(options, (one) => predictCommand(configure(), one));
    });
}

interface PredictOptions {
  state?: string;
  action?: string;
  context?: string;
  params?: string;
  world?: string;
  explain?: boolean;
  file?: string;
  out?: string;
  json?: boolean;
  concurrency: string;
  keepContext?: boolean;
  server?: string;
}

async function predictCommand(config: Config, options: PredictOptions): Promise<void> {
  const { file } = options;
  refuseContradictions(options);
  if (file === undefined) {
    const request = readRequest(options);
    await withPredictor(config, options, async (predict, through) => {
      const { response, explain } = await predict(request);
      const { content } = response;
      process.stdout.write(`${process.stdout.isTTY ? printableLines(content) : content}\n`);
      if (explain && through)
        printNotice(describeExamples({ explain, messages: await through.turnsOf(request) }).join("\n"));
    });
    return;
  }
  const output = readOutput(options);
  checkFiles(file, options.out);
  // Calls may cost money.
  if (output === "nowhere")
    throw new CommandError("Name a file for the predictions with --out, or print them with --json");
  const fileOptions = {
    file,
    output,
    concurrency: readConcurrency(options.concurrency),
    keepsContext: options.keepContext ?? false,
  };
  await withPredictor(config, options, async (predict, through) => {
    // Otherwise each line would fail separately if there is no such world.
    const world = await through?.find();
    const failures = await predictFile(predict, { ...fileOptions, world });
    if (failures > 0) process.exitCode = 1;
  });
}

/** An option that has no effect is a mistake. */
function refuseContradictions(options: PredictOptions): void {
  const { file, state, action, context, params, out, json, keepContext, world, explain } = options;
  if (explain && world === undefined) throw new CommandError("--explain needs --world");
  const ofOne = { "--state": state, "--action": action, "--context": context, "--params": params };
  const ofFile = { "--out": out, "--json": json, "--keep-context": keepContext };
  const given = Object.entries(file === undefined ? ofFile : ofOne).find(([, value]) => value !== undefined);
  if (given === undefined) return;
  const [option] = given;
  throw new CommandError(
    file === undefined
      ? `${option} needs --file`
      : `--file cannot be combined with ${option}, which a line has itself`,
  );
}

/** Predictions from a world, from the Presage at `server`, or directly from the configured upstream. */
async function withPredictor(
  config: Config,
  { server, file, world, explain }: PredictOptions,
  work: (predict: Predict, through?: ThroughWorld) => Promise<void>,
): Promise<void> {
  if (world !== undefined) {
    await withRunConnection(config, { server }, async ({ call }) => {
      await work(
        (request) => call((client) => client.predict({ ...request, world, ...(explain && { explain }) })),
        {
          find: () => call(({ worlds }) => worlds.get(world)),
          turnsOf: ({ context, interaction }) =>
            call(({ worlds }) => worlds.preview(world, { context, interaction })).then(
              ({ messages }) => messages,
              () => [],
            ),
        },
      );
    });
    return;
  }
  if (server !== undefined) {
    const { call } = connectToServer(server, config.clientApiKey);
    // Otherwise each line of a file would fail separately if the server or the key is wrong.
    if (file !== undefined) await call((presage) => presage.whoAmI());
    await work((request) =>
      call(async (presage) => {
        const prediction = await presage.predict(request);
        // A `TypeError` makes `call` say which server answered.
        if (typeof prediction.response.content !== "string") throw new TypeError("No prediction");
        return prediction;
      }),
    );
    return;
  }
  const { deployments, stopSandbox } = await composeDeployments(config, createLog("silent").logger);
  const { urls } = config.upstream;
  if (needsSandbox(config)) printSandboxNotice();
  try {
    await work(async (request) => {
      try {
        return await predict(deployments.getDefault().upstream.complete, request, neverAborted).prediction;
      } catch (error) {
        const hasNoResponse = error instanceof UpstreamError && error.status === undefined;
        throw hasNoResponse && urls !== undefined
          ? new UpstreamError(error.category, `${urls.join(", ")}: ${error.message}`, { cause: error })
          : error;
      }
    });
  } finally {
    await stopSandbox();
  }
}

function readRequest({ state, action, context, params }: PredictOptions): WorldModelRequest {
  if (state === undefined || action === undefined)
    throw new CommandError("predict needs --state and --action, or --file");
  const request = {
    interaction: { state, action },
    ...(context !== undefined && { context: readJson("--context", context) }),
    ...(params !== undefined && { params: readJson("--params", params) }),
  };
  return checkOptions(WorldModelRequest, request, toOption);
}

/** `--state` for `interaction.state`, `--params temperature` for `params.temperature`. */
function toOption(field: string): string {
  return `--${field.replace(/^interaction\./, "").replace(".", " ")}`;
}

function readJson(option: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CommandError(`${option} takes JSON`);
  }
}

interface LineOptions {
  /** Whether output lines include the context, which is their longest part. */
  keepsContext: boolean;
  world: World | undefined;
}

interface PredictFileOptions
  extends LineOptions,
    Pick<ProcessLinesOptions<PredictionLine>, "file" | "output" | "concurrency"> {}

interface Counts {
  predicted: number;
  failed: number;
  /** Predictions whose true next state is known, and how many are equal to it. */
  comparable: number;
  exact: number;
}

/** Predicts each line of a file, prints a summary and returns the number of failures. */
async function predictFile(predict: Predict, { keepsContext, world, ...options }: PredictFileOptions) {
  const counts: Counts = { predicted: 0, failed: 0, comparable: 0, exact: 0 };
  const reasons = collectFailureReasons();
  const progress = await processLines<PredictionLine>({
    ...options,
    noun: "predictions",
    isFinished: (line: OutputLine): line is PredictionLine => line.prediction !== undefined,
    process: (input, digest) => predictLine(predict, input, digest, { keepsContext, world }),
    onLine(line) {
      count(counts, line);
      if (line.error !== undefined) reasons.add(line.line, line.error.detail);
    },
  });
  printNotice([...summary(counts, progress), ...reasons.describe()].join("\n"));
  return counts.failed;
}

function count(counts: Counts, line: PredictionLine): void {
  if (line.prediction === undefined) counts.failed += 1;
  else counts.predicted += 1;
  if (line.exact_match === undefined) return;
  counts.comparable += 1;
  if (line.exact_match) counts.exact += 1;
}

function summary(
  { predicted, failed, comparable, exact }: Counts,
  { processed, elapsedMs }: Progress,
): string[] {
  const seconds = elapsedMs / 1000;
  const rate = `${processed} requested in ${seconds.toFixed(1)} s, ${(processed / seconds).toFixed(1)} per second`;
  const predictions = `${countOf(predicted, "prediction")}, ${countOf(failed, "failure")} (${rate})`;
  if (comparable === 0) return [predictions];
  const share = ((100 * exact) / comparable).toFixed(1);
  return [
    predictions,
    `exact match: ${exact} of ${comparable} (${share} %), ignoring leading and trailing white space`,
  ];
}

type Predict = (request: WorldModelRequest) => Promise<WorldModelPrediction>;

interface ThroughWorld {
  find(): Promise<World>;
  /** The examples' texts; none for a key that may only predict. */
  turnsOf(request: WorldModelRequest): Promise<WorldPreview["messages"]>;
}

/** The prediction for one line of a file, with the input's own fields except the bulky ones. */
interface PredictionLine extends OutputLine {
  prediction?: WorldModelPrediction;
  exact_match?: boolean;
}

/** Predicts one line of a file. A failure is a line like any other, except an error of the command itself. */
async function predictLine(
  predict: Predict,
  { number, text }: NumberedLine,
  digest: string,
  { keepsContext, world }: LineOptions,
): Promise<PredictionLine> {
  const head = { line: number, digest };
  try {
    const { context, params, ...rest } = parseLine(text);
    const kept = keepsContext && context !== undefined ? { context } : {};
    const request = checkLine(WorldModelRequest, {
      ...(context !== undefined && { context }),
      ...(params !== undefined && { params }),
      ...(rest.interaction !== undefined && { interaction: rest.interaction }),
      ...(world && { exclude: withoutOwn(world, rest) }),
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
