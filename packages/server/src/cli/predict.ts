import { type WorldModelPrediction, WorldModelRequest } from "@presage/contract";
import { composeUpstream } from "../compose/compose-command-line.ts";
import type { Config } from "../config.ts";
import { createLog } from "../observability/logger.ts";
import { predict } from "../prediction/predict.ts";
import { CommandError } from "./command-error.ts";
import { checkFiles, readConcurrency } from "./file-options.ts";
import { describeFaults } from "./input-line.ts";
import { predictFile } from "./predict-file.ts";
import { predictRemotely } from "./predict-remotely.ts";

export type Predict = (request: WorldModelRequest) => Promise<WorldModelPrediction>;

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
    if (options.file !== undefined && (options.state !== undefined || options.action !== undefined)) {
      throw new CommandError("--file goes without --state and --action");
    }
    if (options.file === undefined) {
      const { response } = await predict(requestOf(options));
      process.stdout.write(`${response.content}\n`);
      return;
    }
    checkFiles(options.file, options.out);
    const concurrency = readConcurrency(options.concurrency);
    const failures = await predictFile(predict, {
      file: options.file,
      out: options.out,
      concurrency,
      keepsContext: options.keepContext ?? false,
    });
    if (failures > 0) process.exitCode = 1;
  } finally {
    await stop();
  }
}

/** Another Presage's predictions, or those of the configured upstream without a server in between. */
async function openPredictor(
  config: Config,
  server: string | undefined,
): Promise<{ predict: Predict; stop(): Promise<void> }> {
  if (server !== undefined) {
    if (config.clientApiKey === undefined) throw new CommandError("--server needs a key in PRESAGE_API_KEY");
    return { predict: predictRemotely(server, config.clientApiKey), stop: async () => {} };
  }
  const { upstream, stopSandbox } = await composeUpstream(config, createLog("silent").logger);
  if (config.upstream.url === undefined) {
    process.stderr.write(
      "PRESAGE_UPSTREAM_URL is not set: the built-in simulator answers, which is no language model.\n",
    );
  }
  const nobodyHangsUp = new AbortController().signal;
  return {
    predict: (request) => predict(upstream.complete, request, nobodyHangsUp).prediction,
    stop: stopSandbox,
  };
}

function requestOf({ state, action, context, params }: PredictOptions): WorldModelRequest {
  if (state === undefined || action === undefined)
    throw new CommandError("predict takes --state and --action, or --file");
  const request = WorldModelRequest.safeParse({
    context: readJson("--context", context),
    interaction: { state, action },
    params: readJson("--params", params),
  });
  if (!request.success) throw new CommandError(describeFaults(request.error.issues));
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
