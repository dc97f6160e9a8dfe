import { WorldModelRequest } from "@presage/contract";
import { composeUpstream } from "../../compose/compose-command-line.ts";
import type { Config } from "../../config.ts";
import { createLog } from "../../observability/logger.ts";
import { predict } from "../../prediction/predict.ts";
import { CommandError } from "../command-error.ts";
import { connectToServer } from "../connect-to-server.ts";
import { checkFiles, readConcurrency } from "../files/file-options.ts";
import { describeIssues } from "../files/read-lines.ts";
import { predictFile } from "./predict-file.ts";
import type { Predict } from "./predict-line.ts";

export interface PredictOptions {
  state?: string;
  action?: string;
  context?: string;
  params?: string;
  file?: string;
  out?: string;
  concurrency: string;
  keepContext?: boolean;
  server?: string;
}

export async function predictCommand(config: Config, options: PredictOptions): Promise<void> {
  const { predict, stop } = await openPredictor(config, options.server);
  try {
    const { file, out, keepContext: keepsContext = false } = options;
    if (file !== undefined && (options.state !== undefined || options.action !== undefined)) {
      throw new CommandError("--file cannot be combined with --state or --action");
    }
    if (file === undefined) {
      const { response } = await predict(readRequest(options));
      process.stdout.write(`${response.content}\n`);
      return;
    }
    checkFiles(file, out);
    const concurrency = readConcurrency(options.concurrency);
    const failures = await predictFile(predict, { file, out, concurrency, keepsContext });
    if (failures > 0) process.exitCode = 1;
  } finally {
    await stop();
  }
}

/** Predictions by the Presage at `server`, or directly by the configured upstream. */
async function openPredictor(
  config: Config,
  server: string | undefined,
): Promise<{ predict: Predict; stop(): Promise<void> }> {
  if (server !== undefined) {
    const call = connectToServer(server, config.clientApiKey);
    return { predict: (request) => call((presage) => presage.predict(request)), stop: async () => {} };
  }
  const { upstream, stopSandbox } = await composeUpstream(config, createLog("silent").logger);
  if (config.upstream.url === undefined) {
    process.stderr.write(
      "PRESAGE_UPSTREAM_URL is not set: using the built-in sandbox, a rule-based simulator, not a language model.\n",
    );
  }
  const neverAborted = new AbortController().signal;
  return {
    predict: (request) => predict(upstream.complete, request, neverAborted).prediction,
    stop: stopSandbox,
  };
}

function readRequest({ state, action, context, params }: PredictOptions): WorldModelRequest {
  if (state === undefined || action === undefined)
    throw new CommandError("predict needs --state and --action, or --file");
  const request = WorldModelRequest.safeParse({
    context: readJson("--context", context),
    interaction: { state, action },
    params: readJson("--params", params),
  });
  if (!request.success) throw new CommandError(describeIssues(request.error.issues));
  return request.data;
}

function readJson(option: string, text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new CommandError(`${option} takes JSON`);
  }
}
