import { composeEvaluator } from "../app/compose-command-line.ts";
import { needsSandbox } from "../app/compose-deployments.ts";
import type { Config } from "../config/config.ts";
import type { WantedEvaluator } from "../evaluators/resolve-evaluators.ts";
import { InvalidRequestError, validate } from "../http/validate.ts";
import { createLog } from "../platform/observability/logger.ts";
import { inMemoryUrl, isInMemory } from "../platform/storage/sqlite.ts";
import type { OpenOptions } from "../platform/storage/store.ts";
import { NoDatabaseError } from "../platform/storage/store-error.ts";
import { CommandError } from "./command-error.ts";
import { connectToServer } from "./connect-to-server.ts";
import { evaluateFile, findRunId } from "./evaluate-file.ts";
import { type EvaluateSample, type MetadataFields, metadataFields } from "./evaluate-line.ts";
import { evaluateLocally } from "./evaluate-locally.ts";
import { evaluateRemotely } from "./evaluate-remotely.ts";
import { checkFiles, readConcurrency, readOutput } from "./file-options.ts";
import { findServer } from "./find-server.ts";
import { printNotice } from "./print-notice.ts";
import { describeIssues } from "./read-lines.ts";
import { readTags } from "./read-tags.ts";
import { readEvaluator } from "./wanted-evaluators.ts";
import { databaseName } from "./with-database.ts";

export interface EvaluateOptions {
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

/** For pass rates below `--min-pass-rate`. Failed evaluations exit with 1, like every other failure. */
const belowPassRateExitCode = 2;

export async function evaluateCommand(config: Config, options: EvaluateOptions): Promise<void> {
  const { file, out } = options;
  checkFiles(file, out);
  const output = readOutput(options);
  const concurrency = readConcurrency(options.concurrency);
  const minPassRate = readShare(options.minPassRate);
  const named = [...new Set(options.evaluator)];
  const runId = options.runId ?? (await findRunId(out, named)) ?? Bun.randomUUIDv7();
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

interface OpenedEvaluator {
  evaluate: EvaluateSample;
  findOrigin(): Promise<Origin>;
  stop(): Promise<void>;
}

/** Where the dashboard that has the results is: nowhere until a server is started, and of a database in memory never. */
type Origin = string | "no server" | "never";

async function openEvaluator(
  config: Config,
  server: string | undefined,
  evaluators: readonly WantedEvaluator[],
): Promise<OpenedEvaluator> {
  if (server !== undefined) {
    const { call, origin } = connectToServer(server, config.clientApiKey);
    const evaluate = await evaluateRemotely(call, evaluators);
    return { evaluate, findOrigin: async () => origin, stop: async () => {} };
  }
  try {
    return await openHere(config, evaluators, { mustExist: true });
  } catch (error) {
    if (!(error instanceof NoDatabaseError)) throw error;
    // No database is created for a command that is refused: one in memory is as empty, and refuses the same.
    const { stop } = await openHere({ ...config, databaseUrl: inMemoryUrl }, evaluators);
    await stop();
    return await openHere(config, evaluators);
  }
}

async function openHere(
  config: Config,
  evaluators: readonly WantedEvaluator[],
  options?: OpenOptions,
): Promise<OpenedEvaluator> {
  const { services, accountId, stop } = await composeEvaluator(config, createLog("warn"), options);
  try {
    const hasModel = config.judge.url !== undefined || !needsSandbox(config);
    const evaluate = await evaluateLocally(services, accountId, evaluators, hasModel);
    const findOrigin = async () => {
      if (isInMemory(config.databaseUrl)) return "never";
      return (await findServer(services.store.database, config)).running ?? "no server";
    };
    return { evaluate, findOrigin, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The address has its own line, which is short enough for most terminals. */
function describeRun(runId: string, origin: Origin): string {
  const path = `/evaluations?run=${encodeURIComponent(runId)}`;
  if (origin === "never") return `Run ${runId}`;
  if (origin === "no server") return `Run ${runId}. Start the server to see it at\n  ${path}`;
  return `Run ${runId}, in the dashboard:\n  ${origin}${path}`;
}

const optionOfField = new Map([
  ["app", "--app"],
  ["tags", "--tag"],
  ["dataset_id", "--dataset"],
  ["evaluated_model_name", "--model"],
  ["evaluation_run_id", "--run-id"],
]);

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
  try {
    return validate(metadataFields, metadata, "body");
  } catch (error) {
    if (!(error instanceof InvalidRequestError)) throw error;
    throw new CommandError(
      describeIssues(error.issues, (field) => optionOfField.get(field.split(".")[0] ?? "") ?? field),
    );
  }
}

function readShare(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const share = Number(text);
  if (text.trim() !== "" && share >= 0 && share <= 1) return share;
  throw new CommandError("--min-pass-rate takes a number from 0 to 1");
}
