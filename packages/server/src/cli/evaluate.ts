import { existsSync } from "node:fs";
import { composeEvaluator } from "../compose/compose-command-line.ts";
import type { Config } from "../config.ts";
import type { WantedEvaluator } from "../evaluation/evaluate/evaluation-request.ts";
import type { ResultMetadata } from "../evaluation/results/record/evaluation-record.ts";
import { createLog } from "../observability/logger.ts";
import { CommandError } from "./command-error.ts";
import { evaluateFile, runIdOf } from "./evaluate-file.ts";
import type { EvaluateSample } from "./evaluate-line.ts";
import { evaluateLocally } from "./evaluate-locally.ts";
import { evaluateRemotely } from "./evaluate-remotely.ts";
import { checkFiles, readConcurrency } from "./file-options.ts";

export interface EvaluateOptions {
  file: string;
  evaluator: string[];
  out?: string;
  app: string;
  tag: string[];
  runId?: string;
  minPassRate?: string;
  concurrency: string;
  server?: string;
}

/** Verdicts are below `--min-pass-rate`; 1 is for evaluations that came to no verdict, as for every other failure. */
const belowPassRateExitCode = 2;

export async function evaluateCommand(config: Config, options: EvaluateOptions): Promise<void> {
  checkFiles(options.file, options.out);
  const concurrency = readConcurrency(options.concurrency);
  const minPassRate = readShare(options.minPassRate);
  const named = [...new Set(options.evaluator)];
  if (named.length === 0) throw new CommandError("--evaluator names what is to evaluate; --help shows how");
  const evaluators = named.map(readEvaluator);
  const runId = options.runId ?? (await earlierRun(options.out, named)) ?? Bun.randomUUIDv7();
  const tags = readTags(options.tag);
  const metadata: ResultMetadata = {
    app: options.app,
    runId,
    ...(Object.keys(tags).length === 0 ? {} : { tags }),
  };
  const { evaluate, stop } = await openEvaluator(config, options.server, evaluators, metadata);
  try {
    const { file, out } = options;
    const { isComplete, isGoodEnough } = await evaluateFile(evaluate, {
      file,
      out,
      concurrency,
      runId,
      evaluators: named,
      minPassRate,
    });
    if (!isGoodEnough) process.exitCode = belowPassRateExitCode;
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
    const { clientApiKey } = config;
    if (clientApiKey === undefined) throw new CommandError("--server needs a key in PRESAGE_API_KEY");
    return { evaluate: evaluateRemotely(server, clientApiKey, evaluators, metadata), stop: async () => {} };
  }
  const { evaluate, accountId, stop } = await composeEvaluator(config, createLog("warn"));
  return { evaluate: evaluateLocally(evaluate, accountId, evaluators, metadata), stop };
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

async function earlierRun(
  out: string | undefined,
  evaluators: readonly string[],
): Promise<string | undefined> {
  return out !== undefined && existsSync(out) ? await runIdOf(out, evaluators) : undefined;
}
