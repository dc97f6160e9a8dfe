import { existsSync, statSync } from "node:fs";
import type { Run, RunTarget } from "@presage/contract";
import { defaultProfileName } from "@presage/contract/defaults";
import { PresageError } from "@presage/sdk";
import type { Command } from "commander";
import type { Config } from "../config/config.ts";
import { sourceOf } from "../datasets/traces/trace-file.ts";
import type { WantedEvaluator } from "../evaluators/resolve-evaluators.ts";
import { ServiceError, UploadError } from "../platform/errors.ts";
import { commandName, countOf, printable, printableJson, printableLines } from "../platform/words.ts";
import { hasEnded } from "../runs/run.ts";
import {
  CommandError,
  examples,
  InterruptedError,
  interruptedExitCode,
  onSignals,
  printNotice,
} from "./command.ts";
import { configure } from "./config.ts";
import { type Connection, findDataset, findRun } from "./connect.ts";
import { readEvaluator } from "./evaluate/evaluators.ts";
import { checkFiles } from "./files.ts";
import {
  checkMinimums,
  findRegressions,
  findShortfalls,
  type Minimum,
  readMaxRegression,
  readMinimum,
  readUndecided,
  setGateExitCode,
  type Undecided,
} from "./gate.ts";
import { openRunConnection, type RunConnection } from "./open-connection.ts";
import { startsLikeGzip } from "./read-lines.ts";
import {
  addGateOptions,
  addRunOptions,
  protocolOf,
  type RunOptions,
  readNumber,
  readWantedRun,
  refuseContradictions,
} from "./run-options.ts";
import { printComparison, printReport, showProgress } from "./run-tables.ts";
import { importFiles } from "./traces/import.ts";
import { withFiles } from "./traces/import-files.ts";

export function addRunCommand(program: Command): void {
  addGateOptions(
    addRunOptions(program.command("run").description("predict a dataset and evaluate the predictions")),
  )
    .addHelpText(
      ...examples(
        "presage run --dataset transitions.jsonl --evaluator exact-match",
        "presage run --dataset kitchen --name nightly --mode free-running \\",
        "  --evaluator exact-match --evaluator state-change --repeats 3",
        "presage run --dataset kitchen --baseline most-frequent --evaluator exact-match",
        "presage run --dataset conversations.jsonl --protocol word2world",
        "presage run --dataset kitchen --evaluator exact-match \\",
        "  --min-pass-rate exact-match=0.8 --against nightly --max-regression 1.0",
        "presage run --dataset kitchen --evaluator exact-match --limit 50",
        "presage run --resume nightly",
      ),
    )
    .action((options: RunOptions) => runCommand(configure(), options));
}

interface Gates {
  minimums: readonly Minimum[];
  maxRegression: number | undefined;
  undecided: Undecided;
  against: Run | undefined;
}

/** Makes or resumes a run, waits until it ends, and prints how it ended. */
async function runCommand(config: Config, options: RunOptions): Promise<void> {
  refuseContradictions(options);
  const { server, predictions, dataset } = options;
  if (predictions !== undefined) checkFiles(predictions, undefined);
  const minimums = (options.minPassRate ?? []).map(readMinimum);
  const maxRegression = readMaxRegression(options.maxRegression);
  const undecided = readUndecided(options.undecided);
  const evaluators = wantedEvaluators(options);
  const connection = await openRunConnection(config, {
    server,
    evaluators,
    mayCreate: dataset !== undefined && isFile(dataset) && options.against === undefined,
  });
  try {
    const against = await findReference(connection, options.against);
    const run =
      options.resume === undefined
        ? await createRun(connection, options, { evaluators, minimums })
        : await resumeRun(connection, options.resume, { predictions, minimums, against });
    connection.start(run.id);
    const ended = await followRun(connection, run, server);
    await conclude(connection, ended, { minimums, maxRegression, undecided, against }, options);
  } finally {
    await connection.close();
  }
}

function wantedEvaluators(options: RunOptions): WantedEvaluator[] {
  const named = options.evaluator ?? protocolOf(options)?.evaluators ?? [];
  return [...new Set(named)].map(readEvaluator);
}

function isFile(path: string): boolean {
  return existsSync(path) && statSync(path).isFile();
}

async function findReference(connection: RunConnection, nameOrId: string | undefined) {
  if (nameOrId === undefined) return undefined;
  const run = await findRun(connection, nameOrId);
  if (run.status === "finished") return run;
  throw new CommandError(`--against: the run is ${run.status}; only a finished one can be compared with`);
}

async function createRun(
  connection: RunConnection,
  options: RunOptions,
  { evaluators, minimums }: { evaluators: readonly WantedEvaluator[]; minimums: readonly Minimum[] },
): Promise<Run> {
  const { dataset = "", predictions } = options;
  const target = await readTarget(connection, options);
  const wanted = readWantedRun(options, target, evaluators);
  checkMinimums(
    minimums,
    evaluators.map(({ evaluator, profileName = defaultProfileName }) => ({
      evaluator,
      profile_name: profileName,
    })),
  );
  await connection.checkEvaluators(evaluators);
  const found = await findSamples(connection, dataset, options);
  const run = await connection.createRun({ ...wanted, ...found }, evaluators);
  printNotice(`Run ${run.id}: ${printable(run.name)}, ${countOf(run.progress.samples, "prediction")}`);
  printNotice(`It is written to ${connection.name}.`);
  if (predictions !== undefined) await upload(connection, run, predictions);
  return run;
}

async function readTarget(
  connection: RunConnection,
  { model, deployment, world, baseline, predictions }: RunOptions,
): Promise<RunTarget> {
  if (predictions !== undefined) return { predictions: "imported" };
  if (baseline !== undefined) return { baseline };
  if (world !== undefined) return { world };
  const named = deployment ?? (await findDefaultDeployment(connection));
  return { deployment: named, ...(model !== undefined && { model }) };
}

/** The name of the deployment that predicts unless another is named. */
export async function findDefaultDeployment({ call }: Connection): Promise<string> {
  const found = (await call(({ deployments }) => deployments.list())).find((one) => one.is_default);
  if (found === undefined) throw new CommandError("The server has no deployment; name a target");
  return found.name;
}

/** A file becomes a dataset named after it; the same lines always give the same revision. */
export async function findSamples(
  connection: Connection,
  dataset: string,
  options: Pick<RunOptions, "format" | "protocol" | "revision">,
): Promise<{ dataset_id: string; revision?: number }> {
  if (isFile(dataset)) {
    if (options.revision !== undefined)
      throw new CommandError("--revision is for a dataset that is there; a file is the revision itself");
    checkFiles(dataset, undefined);
    const name = sourceOf(dataset);
    const format = options.format ?? protocolOf(options)?.format;
    const uploaded = await withFiles([dataset], (files) => importFiles(connection, name, files, { format }));
    return { dataset_id: uploaded.dataset.id, revision: uploaded.revision.revision };
  }
  const found = await findDataset(connection, dataset);
  if (found === undefined) throw new CommandError(`There is neither a file nor a dataset ${dataset}`);
  if (options.format !== undefined)
    throw new CommandError("--format is for a file; the dataset has been read already");
  const { revision } = options;
  return {
    dataset_id: found.id,
    ...(revision !== undefined && { revision: readNumber("--revision", revision) }),
  };
}

async function upload(connection: RunConnection, { id }: Run, path: string): Promise<void> {
  const isGzip = await startsLikeGzip(path);
  const { warnings = [] } = await connection
    .call(({ runs }) => runs.uploadPredictions(id, Bun.file(path), { isGzip }))
    .catch((error: unknown) => {
      throw error instanceof UploadError ? new CommandError(`${path}: ${error.message}`) : error;
    });
  for (const warning of warnings) printNotice(printableLines(warning));
}

async function resumeRun(
  connection: RunConnection,
  nameOrId: string,
  {
    predictions,
    minimums,
    against,
  }: { predictions: string | undefined; minimums: readonly Minimum[]; against: Run | undefined },
): Promise<Run> {
  const run = await findRun(connection, nameOrId);
  if (run.id === against?.id) throw new CommandError(`--against: ${nameOrId} is the same run; name another`);
  checkMinimums(minimums, run.evaluators);
  if (hasEnded(run) && run.status !== "finished")
    throw new CommandError(`The run is ${run.status} and cannot be resumed.`);
  const { samples, predicted, failed_predictions } = run.progress;
  const isWhole = predicted + failed_predictions >= samples;
  const lacksPredictions =
    "predictions" in run.target && run.started_at === null && !isWhole && !hasEnded(run);
  if (lacksPredictions && predictions === undefined)
    throw new CommandError("The run has no predictions yet: give them with --predictions");
  if (!lacksPredictions && predictions !== undefined) {
    const reason = "The run waits for no predictions";
    if (hasEnded(run)) throw new CommandError(`${reason}: leave out --predictions`);
    printNotice(`${reason}: --predictions is not read`);
  }
  const resumed = run.status === "paused" ? await connection.call(({ runs }) => runs.resume(run.id)) : run;
  if (lacksPredictions && predictions !== undefined) await upload(connection, run, predictions);
  return resumed;
}

/** A deployment that stays away for longer would leave a CI job waiting for nothing. */
const mostPausedMs = 10 * 60_000;
/** A terminal signals every process of `npm start`, which also forwards it: signals within this time count as one. */
const sameSignalMs = 1_000;

/** Shows a run's progress until it ends. Ctrl-C pauses the run and throws an `InterruptedError`. */
export async function followRun(
  connection: RunConnection,
  run: Run,
  server: string | undefined,
): Promise<Run> {
  const command = `${commandName} run --resume ${run.id}${server === undefined ? "" : ` --server ${server}`}`;
  const progress = showProgress(run);
  const waiting = new AbortController();
  let lastReason: string | null = null;
  let pausedSinceMs: number | undefined;
  const onProgress = (now: Run) => {
    progress.update(now);
    const { status, status_reason: reason } = now;
    // A pause due to a deployment has a reason, and ends by itself.
    if (status === "paused" && reason === null)
      throw new CommandError(`The run was paused. To finish it:\n  ${command}`);
    if (reason !== null && reason !== lastReason) progress.say(`Waiting: ${printable(reason)}`);
    lastReason = reason;
    pausedSinceMs = status === "paused" ? (pausedSinceMs ?? Date.now()) : undefined;
    if (pausedSinceMs !== undefined && Date.now() - pausedSinceMs >= mostPausedMs)
      throw new CommandError(
        `The run has been waiting for its deployment for 10 minutes: ${printable(reason ?? "")}\nTo follow it again:\n  ${command}`,
      );
  };
  const { call, waiting: options } = connection;
  const ended = call(({ runs }) =>
    runs.waitUntilEnded(run.id, { ...options, onProgress, signal: waiting.signal }),
  );
  const interrupted = Promise.withResolvers<"interrupted">();
  let interruptedAtMs: number | undefined;
  const stopListening = onSignals(() => {
    interruptedAtMs ??= performance.now();
    // A second Ctrl-C does not wait for the store or the server.
    if (performance.now() - interruptedAtMs >= sameSignalMs) process.exit(interruptedExitCode);
    interrupted.resolve("interrupted");
  });
  try {
    const first = await Promise.race([ended, interrupted.promise]);
    if (first !== "interrupted") return first;
  } finally {
    progress.stop();
    if (interruptedAtMs === undefined) stopListening();
  }
  waiting.abort(new InterruptedError());
  ended.catch(() => {});
  await pause(connection, run.id);
  printNotice(`Paused. To finish it:\n  ${command}`);
  throw new InterruptedError();
}

/** A run that has just ended can no longer be paused. */
async function pause(connection: RunConnection, id: string): Promise<void> {
  await connection
    .call(({ runs }) => runs.pause(id))
    .catch((error: unknown) => {
      const isConflict =
        (error instanceof PresageError && error.category === "conflict") ||
        (error instanceof ServiceError && error.code === "conflict");
      if (!isConflict) throw error;
    });
}

/** Says where the dashboard shows something, if a server is running. */
export async function printAddress(connection: Pick<RunConnection, "findOrigin">, path: string) {
  const origin = await connection.findOrigin();
  if (origin !== undefined) printNotice(`In the dashboard:\n  ${origin}${path}`);
}

/** A pilot may fail a gate, but never passes one. */
function describePilots(runs: readonly (Run | undefined)[]): string[] {
  return runs.flatMap((run) => {
    const { draw } = run?.provenance ?? {};
    return draw === undefined
      ? []
      : `undecided: ${printable(run?.name ?? "")} is a pilot of ${draw.samples} of ${draw.of} samples, which passes no gate`;
  });
}

/** Prints the run's report, compares the run, and sets the exit code. */
async function conclude(
  connection: RunConnection,
  run: Run,
  { minimums, maxRegression, undecided, against }: Gates,
  { json }: RunOptions,
): Promise<void> {
  const report = await connection.call(({ runs }) => runs.report(run.id));
  if (json) process.stdout.write(`${printableJson(report)}\n`);
  else printReport(report);
  const missed = findShortfalls(report.evaluators, minimums);
  if (report.provenance.leaky && (minimums.length > 0 || maxRegression !== undefined))
    missed.push(
      "The world was calibrated on samples of this dataset: use others, such as those with the tag split=test",
    );
  const untold = minimums.length > 0 || maxRegression !== undefined ? describePilots([run, against]) : [];
  if (against !== undefined) {
    const comparison = await connection.call(({ comparisons }) => comparisons.get([against.id, run.id]));
    if (comparison.evaluators.length === 0)
      throw new CommandError("--against: the two runs have no evaluator in common");
    if (!json) {
      process.stdout.write("\n");
      printComparison(comparison);
    }
    if (maxRegression !== undefined) {
      const found = findRegressions(comparison, maxRegression);
      missed.push(...found.worse);
      untold.push(...found.undecided);
    }
  }
  const compared = against === undefined ? `/runs/${run.id}` : `/compare?runs=${against.id},${run.id}`;
  await printAddress(connection, compared);
  if (missed.length + untold.length > 0) printNotice([...missed, ...untold].join("\n"));
  setGateExitCode({ isMissed: missed.length > 0, isUntold: untold.length > 0 }, undecided);
  if (run.status !== "finished") throw new CommandError(`The run is ${run.status}.`);
  if (report.evaluators.every(({ count }) => count === 0)) throw new CommandError("The run has no verdict.");
}
