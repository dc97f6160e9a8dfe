import { existsSync } from "node:fs";
import type { Command } from "commander";
import type { Config } from "../../config/config.ts";
import { hasFailed } from "../../evaluators/outcome.ts";
import type { WantedEvaluator } from "../../evaluators/resolve-evaluators.ts";
import { isInMemory } from "../../platform/storage/sqlite/sqlite.ts";
import { countOf } from "../../platform/words.ts";
import { CommandError, collect, examples, printNotice, readTags, settleRuntimeFor } from "../command.ts";
import { configure } from "../config.ts";
import { connectToServer, databaseName } from "../connect.ts";
import {
  checkFiles,
  checkOptions,
  collectFailureReasons,
  type OutputLine,
  type ProcessLinesOptions,
  parse,
  processLines,
  readConcurrency,
  readOutput,
} from "../files.ts";
import { openOrCreate } from "../open-connection.ts";
import { readLines } from "../read-lines.ts";
import { withFile } from "../traces/import-files.ts";
import {
  countOutcome,
  type EvaluateLineOptions,
  type EvaluateSample,
  type EvaluationLine,
  evaluateLine,
  type MetadataFields,
  metadataFields,
  type OutcomeCounts,
  outcomeName,
  outcomeTable,
  passRate,
  percent,
  verdictsOf,
} from "./evaluate-line.ts";
import { checkEvaluatorsLocally, checkEvaluatorsRemotely, evaluateBy, readEvaluator } from "./evaluators.ts";

export function addEvaluateCommand(program: Command): void {
  program
    .command("evaluate")
    .description("evaluate the lines of a file; stores the results")
    .requiredOption(
      "--file <path>",
      "JSON lines with evaluated_model_output and whatever the evaluators need, or the output of presage predict --file; trajectory_id and step of a line become tags; - is standard input",
    )
    .requiredOption("--evaluator <name[=profile]>", "an evaluator to run; repeatable", collect)
    .option(
      "--out <path>",
      "file for the outcomes, as JSON lines; a second run resumes where the last one stopped; by default standard output, unless it is a terminal",
    )
    .option("--json", "write JSON lines to standard output, even to a terminal")
    .option("--app <name>", "app that the results belong to", "default")
    .option("--tag <name=value>", "a tag for all results; repeatable", collect)
    .option("--dataset <id>", "dataset that the lines are from")
    .option("--model <name>", "model whose outputs are evaluated")
    .option("--run-id <id>", "run that the results belong to; by default the one in --out, or a new one")
    .option("--min-pass-rate <share>", "from 0 to 1: exit with 2 if the pass rate of an evaluator is lower")
    .option("--concurrency <number>", "maximum concurrent lines", "32")
    .option(
      "--server <url>",
      "evaluate on this Presage server, with the API key in PRESAGE_API_KEY; it stores the results",
    )
    .addHelpText(
      ...examples(
        "presage evaluate --file predictions.jsonl --evaluator exact-match",
        "presage evaluate --file predictions.jsonl \\",
        "  --evaluator exact-match --evaluator judge=system:is-concise \\",
        "  --dataset sciworld --model world-model-1 --tag temperature=0",
        "presage evaluate --file predictions.jsonl --evaluator state-change \\",
        "  --min-pass-rate 0.8 --out outcomes.jsonl",
      ),
    )
    .action(async (options) => {
      settleRuntimeFor(options.concurrency);
      await withFile<EvaluateOptions>(options, (one) => evaluateCommand(configure(), one));
    });
}

interface EvaluateOptions {
  file: string;
  evaluator: string[];
  out?: string;
  json?: boolean;
  app: string;
  tag?: string[];
  dataset?: string;
  model?: string;
  runId?: string;
  minPassRate?: string;
  concurrency: string;
  server?: string;
}

/** The exit code for pass rates below `--min-pass-rate`. Failed evaluations exit with 1, like every other failure. */
const belowPassRateExitCode = 2;

async function evaluateCommand(config: Config, options: EvaluateOptions): Promise<void> {
  const { file, out } = options;
  const output = readOutput(options);
  checkFiles(file, out);
  const concurrency = readConcurrency(options.concurrency);
  const minPassRate = readShare(options.minPassRate);
  const named = [...new Set(options.evaluator)];
  const known = await findRunId(out, named);
  if (options.runId !== undefined && known !== undefined && options.runId !== known)
    throw new CommandError(
      `${out} contains evaluations of the run ${known}; name another file. Nothing was changed.`,
    );
  const runId = options.runId ?? known ?? Bun.randomUUIDv7();
  const metadata = readMetadata(options, runId);
  const { evaluate, findOrigin, stop } = await openEvaluator(
    config,
    options.server,
    named.map(readEvaluator),
  );
  printNotice(`Results are written to ${options.server ?? databaseName(config.databaseUrl)}.`);
  try {
    const fileOptions = { file, output, concurrency, runId, evaluators: named, metadata, minPassRate };
    const { isComplete, reachesPassRate } = await evaluateFile(evaluate, fileOptions);
    printNotice(describeRun(runId, await findOrigin()));
    if (!reachesPassRate) process.exitCode = belowPassRateExitCode;
    if (!isComplete) process.exitCode = 1;
  } finally {
    await stop();
  }
}

/** The dashboard's address; until a server is started there is none, and for a database in memory never. */
type Origin = string | "no server" | "never";

async function openEvaluator(
  config: Config,
  server: string | undefined,
  evaluators: readonly WantedEvaluator[],
): Promise<{ evaluate: EvaluateSample; findOrigin(): Promise<Origin>; stop(): Promise<void> }> {
  if (server !== undefined) {
    const { call, origin } = connectToServer(server, config.clientApiKey);
    await checkEvaluatorsRemotely(call, evaluators);
    const evaluate = evaluateBy(call, evaluators);
    return { evaluate, findOrigin: async () => origin, stop: async () => {} };
  }
  const own = await openOrCreate(config, ({ server }) => checkEvaluatorsLocally(server, evaluators));
  const { stop } = own.server;
  try {
    await checkEvaluatorsLocally(own.server, evaluators);
    const evaluate = evaluateBy(own.call, evaluators);
    const nowhere = isInMemory(config.databaseUrl) ? "never" : "no server";
    return { evaluate, findOrigin: async () => (await own.findOrigin()) ?? nowhere, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The address gets its own line, which is short enough for most terminals. */
function describeRun(runId: string, origin: Origin): string {
  const path = `/evaluations?run=${encodeURIComponent(runId)}`;
  if (origin === "never") return `Run ${runId}`;
  if (origin === "no server") return `Run ${runId}. Start the server to see it at\n  ${path}`;
  return `Run ${runId}, in the dashboard:\n  ${origin}${path}`;
}

const optionOfField: Readonly<Record<string, string>> = {
  app: "--app",
  tags: "--tag",
  dataset_id: "--dataset",
  evaluated_model_name: "--model",
  evaluation_run_id: "--run-id",
};

/** Metadata of all results, checked as the API would. */
function readMetadata(
  { app, tag, dataset, model }: EvaluateOptions,
  evaluation_run_id: string,
): MetadataFields {
  const metadata = {
    app,
    evaluation_run_id,
    ...(tag && { tags: readTags(tag) }),
    ...(dataset !== undefined && { dataset_id: dataset }),
    ...(model !== undefined && { evaluated_model_name: model }),
  };
  return checkOptions(metadataFields, metadata, (field) => optionOfField[field.split(".")[0] ?? ""] ?? field);
}

function readShare(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const share = Number(text);
  if (text.trim() !== "" && share >= 0 && share <= 1) return share;
  throw new CommandError("--min-pass-rate takes a number from 0 to 1");
}

/** Columns, if the output is not a terminal. */
const defaultWidth = 80;

interface EvaluateFileOptions
  extends EvaluateLineOptions,
    Pick<ProcessLinesOptions<EvaluationLine>, "file" | "output" | "concurrency"> {
  /** From 0 to 1; each evaluator must reach it. */
  minPassRate: number | undefined;
}

interface FileEvaluation {
  /** Whether something was evaluated and nothing failed. */
  isComplete: boolean;
  reachesPassRate: boolean;
}

/** Evaluates each line of a file and prints a summary. */
async function evaluateFile(
  evaluate: EvaluateSample,
  { runId, evaluators, metadata, minPassRate, ...options }: EvaluateFileOptions,
): Promise<FileEvaluation> {
  const counts = new Map<string, OutcomeCounts>();
  const reasons = collectFailureReasons();
  let failedLines = 0;
  const { processed, elapsedMs } = await processLines<EvaluationLine>({
    ...options,
    noun: "evaluations",
    isFinished: (line: OutputLine): line is EvaluationLine => isFinished(line as EvaluationLine),
    process: (input, digest) => evaluateLine(evaluate, { runId, evaluators, metadata }, input, digest),
    onLine({ line, cluster_id = null, results = [], error }) {
      if (error !== undefined) reasons.add(line, error.detail);
      for (const outcome of results) {
        countOutcome(counts, outcome, cluster_id);
        if (hasFailed(outcome))
          reasons.add(line, outcome.error_message ?? outcome.status, outcomeName(outcome));
      }
      if (error !== undefined || results.some(hasFailed)) failedLines += 1;
    },
  });
  const all = [...counts.values()];
  const missed = all.filter((of) => minPassRate !== undefined && (passRate(of) ?? 0) < minPassRate);
  const seconds = (elapsedMs / 1000).toFixed(1);
  process.stderr.write(`${outcomeTable(all, process.stderr.columns ?? defaultWidth)}\n`);
  printNotice(
    [
      `${countOf(processed, "line")} in ${seconds} s; ${countOf(failedLines, "line")} with failures`,
      ...reasons.describe(),
      ...missed.map((of) => `${describeMiss(of)} --min-pass-rate ${minPassRate}`),
    ].join("\n"),
  );
  return {
    isComplete: all.length > 0 && failedLines === 0 && all.every(({ failed }) => failed === 0),
    reachesPassRate: missed.length === 0,
  };
}

function describeMiss(of: OutcomeCounts): string {
  const verdicts = verdictsOf(of);
  if (verdicts === 0) return `${of.name}: no verdicts, so it does not reach`;
  return `${of.name}: ${of.passed} of ${verdicts} passed (${percent(passRate(of))}), which is below`;
}

/** Lines with a failed evaluation are evaluated again, as are those written by an earlier version, which name no cluster. */
function isFinished({ cluster_id, results }: EvaluationLine): boolean {
  return (
    cluster_id !== undefined &&
    (results?.every(({ status }) => status !== "failed" && status !== "contradictory") ?? false)
  );
}

/** The run of an existing file of evaluations, so that repeating the command resumes the run. */
async function findRunId(out: string | undefined, evaluators: readonly string[]) {
  if (out === undefined || !existsSync(out)) return undefined;
  for await (const { text } of readLines(out)) {
    const line = parse(text) as Partial<EvaluationLine> | null | undefined;
    // A truncated line is written again.
    if (line === undefined) continue;
    if (typeof line?.evaluation_run_id !== "string") {
      throw new CommandError(`${out} contains something other than evaluations; nothing was changed.`);
    }
    if (JSON.stringify(line.evaluators) === JSON.stringify(evaluators)) return line.evaluation_run_id;
    throw new CommandError(
      `${out} contains evaluations by ${line.evaluators?.join(", ")}; name another file. Nothing was changed.`,
    );
  }
  return undefined;
}
