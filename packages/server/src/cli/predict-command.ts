import { WorldModelRequest } from "@presage/contract";
import { composeDeployments, needsSandbox } from "../app/compose-deployments.ts";
import type { Config } from "../config/config.ts";
import { InvalidRequestError, validate } from "../http/validate.ts";
import { UpstreamError } from "../platform/errors.ts";
import { createLog } from "../platform/observability/logger.ts";
import { predict } from "../predictions/predict.ts";
import { CommandError } from "./command-error.ts";
import { connectToServer } from "./connect-to-server.ts";
import { checkFiles, readConcurrency, readOutput } from "./file-options.ts";
import { predictFile } from "./predict-file.ts";
import type { Predict } from "./predict-line.ts";
import { printSandboxNotice } from "./print-sandbox-notice.ts";
import { describeIssues } from "./read-lines.ts";

export interface PredictOptions {
  state?: string;
  action?: string;
  context?: string;
  params?: string;
  file?: string;
  out?: string;
  json?: boolean;
  concurrency: string;
  keepContext?: boolean;
  server?: string;
}

export async function predictCommand(config: Config, options: PredictOptions): Promise<void> {
  const { file, server } = options;
  refuseContradictions(options);
  if (file === undefined) {
    const request = readRequest(options);
    await withPredictor(config, { server, isFile: false }, async (predict) => {
      const { response } = await predict(request);
      process.stdout.write(`${response.content}\n`);
    });
    return;
  }
  checkFiles(file, options.out);
  const output = readOutput(options);
  // Calls may cost money.
  if (output === "nowhere")
    throw new CommandError("Name a file for the predictions with --out, or print them with --json");
  const fileOptions = {
    file,
    output,
    concurrency: readConcurrency(options.concurrency),
    keepsContext: options.keepContext ?? false,
  };
  await withPredictor(config, { server, isFile: true }, async (predict) => {
    const failures = await predictFile(predict, fileOptions);
    if (failures > 0) process.exitCode = 1;
  });
}

/** An option that has no effect is a mistake. */
function refuseContradictions(options: PredictOptions): void {
  const { file, state, action, context, params, out, json, keepContext } = options;
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

/** Predictions by the Presage at `server`, or directly by the configured upstream. */
async function withPredictor(
  config: Config,
  { server, isFile }: { server: string | undefined; isFile: boolean },
  work: (predict: Predict) => Promise<void>,
): Promise<void> {
  if (server !== undefined) {
    const { call } = connectToServer(server, config.clientApiKey);
    // Otherwise each line of a file would find out by itself that the server or the key is wrong.
    if (isFile) await call((presage) => presage.whoAmI());
    await work((request) => call((presage) => presage.predict(request)));
    return;
  }
  const { deployments, stopSandbox } = await composeDeployments(config, createLog("silent").logger);
  const { urls } = config.upstream;
  if (needsSandbox(config)) printSandboxNotice();
  const neverAborted = new AbortController().signal;
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
  try {
    return validate(WorldModelRequest, request, "body");
  } catch (error) {
    throw error instanceof InvalidRequestError
      ? new CommandError(describeIssues(error.issues, toOption))
      : error;
  }
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
