import { composeEvaluator } from "../../compose/compose-command-line.ts";
import type { Config } from "../../config.ts";
import type { WantedEvaluator } from "../../evaluation/evaluate/evaluation-request.ts";
import type { ResultMetadata } from "../../evaluation/results/record/evaluation-record.ts";
import { createLog } from "../../observability/logger.ts";
import { CommandError } from "../command-error.ts";
import { connectToServer } from "../connect-to-server.ts";
import { checkFiles, readConcurrency } from "../files/file-options.ts";
import { evaluateFile, findRunId } from "./evaluate-file.ts";
import type { EvaluateSample } from "./evaluate-line.ts";
import { evaluateLocally } from "./evaluate-locally.ts";
import { evaluateRemotely } from "./evaluate-remotely.ts";

export interface EvaluateOptions {
  file: string;
  evaluator: string[];
  out?: string;
  app: string;
  tag?: string[];
  runId?: string;
  minPassRate?: string;
  concurrency: string;
  server?: string;
}

/** For pass rates below `--min-pass-rate`. Failed evaluations exit with 1, like every other failure. */
const belowPassRateExitCode = 2;

export async function evaluateCommand(config: Config, options: EvaluateOptions): Promise<void> {
  checkFiles(options.file, options.out);
  const concurrency = readConcurrency(options.concurrency);
  const minPassRate = readShare(options.minPassRate);
  const named = [...new Set(options.evaluator)];
  const evaluators = named.map(readEvaluator);
  const runId = options.runId ?? (await findRunId(options.out, named)) ?? Bun.randomUUIDv7();
  const metadata: ResultMetadata = {
    app: options.app,
    runId,
    ...(options.tag && { tags: readTags(options.tag) }),
  };
  const { evaluate, stop } = await openEvaluator(config, options.server, evaluators, metadata);
  try {
    const { file, out } = options;
    const fileOptions = { file, out, concurrency, runId, evaluators: named, minPassRate };
    const { isComplete, reachesPassRate } = await evaluateFile(evaluate, fileOptions);
    if (!reachesPassRate) process.exitCode = belowPassRateExitCode;
    if (!isComplete) process.exitCode = 1;
  } finally {
    await stop();
  }
}

async function openEvaluator(
  config: Config,
  server: string | undefined,
  evaluators: readonly WantedEvaluator[],
  metadata: ResultMetadata,
): Promise<{ evaluate: EvaluateSample; stop(): Promise<void> }> {
  if (server !== undefined) {
    const call = connectToServer(server, config.clientApiKey);
    return { evaluate: evaluateRemotely(call, evaluators, metadata), stop: async () => {} };
  }
  const { services, accountId, stop } = await composeEvaluator(config, createLog("warn"));
  return { evaluate: evaluateLocally(services, accountId, evaluators, metadata), stop };
}

/** `FAMILY`, or `FAMILY=PROFILE`. */
function readEvaluator(text: string): WantedEvaluator {
  const [evaluator = "", ...profile] = text.split("=");
  const profileName = profile.join("=");
  return { evaluator, ...(profileName === "" ? {} : { profileName }), explainStrategy: "always" };
}

function readTags(pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [name = "", ...value] = pair.split("=");
      if (name === "" || value.length === 0) throw new CommandError("--tag takes NAME=VALUE");
      return [name, value.join("=")];
    }),
  );
}

function readShare(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const share = Number(text);
  if (text.trim() !== "" && share >= 0 && share <= 1) return share;
  throw new CommandError("--min-pass-rate takes a number from 0 to 1");
}
